/**
 * Returns the text with quotes, dashes, spaces and dots of typography as those of ASCII. A backtick stays: in
 * most languages it is another quote.
 */
export const plainMarks = (text: string): string =>
  text
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ')
    .replace(/\u2026/g, '...')
