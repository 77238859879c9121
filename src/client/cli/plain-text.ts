/**
 * OSC, DCS, SOS, PM and APC strings with their content: titles, links, clipboard writes. One that is cut off
 * ends with its line.
 */
const strings =
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u009c|\u001b\\)?/g
/** CSI sequences: colours, cursor movements, erasing. */
const controls = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?/g
/** Every other escape sequence. */
const escapes = /\u001b[ -/]*[0-~]?/g
/** Characters that reorder, hide or fake text. */
const deceptive =
  /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2028\u2029\u2060-\u2064\u2066-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu
/** Control characters other than tab and line feed, and halves of characters. */
const remains = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]|\p{Surrogate}/gu

const name = (char: string) => `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`

/**
 * Returns text of an agent, a repository or a person as it may go to a terminal: without escape sequences and
 * control characters, with what would reorder or hide text shown by its code point. Of a line that carriage
 * returns write over, the last is kept. Lines and tabs stay.
 */
export function plainText(text: string): string {
  return overwritten(text.replace(strings, '').replace(controls, '').replace(escapes, ''))
    .replace(deceptive, name)
    .replace(remains, '')
}

/** No pattern: with a thousand carriage returns it would begin at each of them again. */
function overwritten(text: string): string {
  const shown = (line: string) => line.slice(line.lastIndexOf('\r') + 1)
  return text
    .replace(/\r+/g, '\r')
    .split('\n')
    .map(line => shown(line.endsWith('\r') ? line.slice(0, -1) : line))
    .join('\n')
}

/**
 * Returns the same JSON as it may go to a terminal: JSON itself escapes only the control characters below
 * U+0020.
 */
export const plainJson = (json: string): string =>
  json.replace(deceptive, escaped).replace(/[\u007F-\u009F]/g, escaped)

const escaped = (char: string) =>
  char
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** Returns the first line that has text, with a mark when there is more. */
export function firstLine(text: string, longest = 500): string {
  const lines = plainText(text).trim().split('\n')
  const line = (lines[0] ?? '').replaceAll('\t', ' ').trimEnd()
  return line.length > longest ? `${line.slice(0, longest)}…` : lines.length > 1 ? `${line} …` : line
}
