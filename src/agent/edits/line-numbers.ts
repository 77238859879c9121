/**
 * Returns a function for the number of the line, from 1, to which a position in this text belongs. The text
 * is read once.
 */
export function lineNumbers(text: string): (position: number) => number {
  const breaks: number[] = []
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) breaks.push(at)
  return position => countBelow(breaks, position) + 1
}

/** Returns how many of the ascending numbers are less than a limit. */
export function countBelow(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? limit) < limit) low = middle + 1
    else high = middle
  }
  return low
}
