/**
 * Returns the part of `text` around the first occurrence of `q`, whose case does not matter, with at most
 * `chars` characters on each side, and where the occurrence is in it (UTF-16 code units). Without an
 * occurrence: the start of the text, and length 0. No surrogate pair is divided.
 */
export function textAround(
  text: string,
  q: string,
  chars: number,
): { around: string; start: number; length: number } {
  const at = position(text, q)
  if (at === -1) return { around: text.slice(0, wholeAt(text, chars * 2)), start: 0, length: 0 }
  const from = wholeAt(text, Math.max(0, at - chars))
  const around = text.slice(from, wholeAt(text, at + q.length + chars))
  return { around, start: at - from, length: q.length }
}

/**
 * Lower case may have another length ("İ"), then positions differ; such texts are searched character by
 * character.
 */
function position(text: string, q: string): number {
  const folded = text.toLowerCase()
  const sought = q.toLowerCase()
  if (folded.length === text.length) return folded.indexOf(sought)
  return text.search(new RegExp(q.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu'))
}

/** Returns the position, moved before a surrogate pair that it would divide. */
const wholeAt = (text: string, at: number): number =>
  at > 0 && at < text.length && /[\uDC00-\uDFFF]/.test(text[at] ?? '') ? at - 1 : at
