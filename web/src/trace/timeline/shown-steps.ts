/** More steps than a person reads in an outline, and few enough to be rendered at once. */
const MAX_STEPS = 200

/**
 * The entries of a section that an outline shows: around entry `seq` when it is in the section, otherwise the
 * first ones.
 */
export function shownSteps(
  span: { from_seq: number; through_seq: number },
  seq: number,
): { from: number; through: number } {
  const last_from = Math.max(span.from_seq, span.through_seq - MAX_STEPS + 1)
  // The list moves by half of its length, so that most steps of the feed leave it as it is.
  const near = seq > span.through_seq ? span.from_seq : seq - (seq % (MAX_STEPS / 2)) - MAX_STEPS / 2
  const from = Math.min(Math.max(span.from_seq, near), last_from)
  return { from, through: Math.min(span.through_seq, from + MAX_STEPS - 1) }
}
