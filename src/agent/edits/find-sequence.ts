/**
 * Yields the positions of `wanted` in `items`, without overlaps, by the algorithm of Knuth, Morris and Pratt:
 * linear in both lengths, whatever they contain. `indexOf` takes minutes for a long text that almost matches
 * at each position.
 */
export function* occurrences<T>(
  items: ArrayLike<T>,
  wanted: ArrayLike<T>,
  from = 0,
): Generator<number, undefined> {
  if (wanted.length === 0) return
  const borders = bordersOf(wanted)
  let matched = 0
  for (let i = from; i < items.length; i++) {
    while (matched > 0 && items[i] !== wanted[matched]) matched = borders[matched - 1] ?? 0
    if (items[i] === wanted[matched]) matched++
    if (matched < wanted.length) continue
    yield i + 1 - matched
    matched = 0
  }
}

/** Returns the position of the first occurrence; null: there is none. */
export const findSequence = <T>(items: ArrayLike<T>, wanted: ArrayLike<T>, from = 0): number | null =>
  occurrences(items, wanted, from).next().value ?? null

/** For each beginning of a sequence: the length of its longest proper beginning with which it also ends. */
function bordersOf<T>(wanted: ArrayLike<T>): Int32Array {
  const borders = new Int32Array(wanted.length)
  let length = 0
  for (let i = 1; i < wanted.length; i++) {
    while (length > 0 && wanted[i] !== wanted[length]) length = borders[length - 1] ?? 0
    if (wanted[i] === wanted[length]) length++
    borders[i] = length
  }
  return borders
}
