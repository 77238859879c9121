/** A part of a text: from `start` to before `end`, in characters. */
export type Span = { start: number; end: number }

/** Returns the spans that are not inside one of `holders`, which are ordered and do not overlap. */
export const outside = <S extends Span>(spans: readonly S[], holders: readonly Span[]): S[] =>
  spans.filter(span => {
    const holder = lastFrom(holders, span.start + 1)
    return holder === undefined || span.end > holder.end
  })

/** Returns the spans that share no character with one of `others`, which are ordered and do not overlap. */
export const apartFrom = <S extends Span>(spans: readonly S[], others: readonly Span[]): S[] =>
  spans.filter(span => {
    const other = lastFrom(others, span.end)
    return other === undefined || other.end <= span.start
  })

/** Returns the spans in order, overlapping ones merged, with the other fields of the first one. */
export function merged<S extends Span>(spans: readonly S[]): S[] {
  const all: S[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = all.at(-1)
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end)
    else all.push({ ...span })
  }
  return all
}

/**
 * Returns the last span that begins before `at`, by binary search: the text of a run may have a hundred
 * thousand spans.
 */
function lastFrom(spans: readonly Span[], at: number): Span | undefined {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.start ?? at) < at) low = middle + 1
    else high = middle
  }
  return spans[low - 1]
}
