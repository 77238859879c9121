/**
 * Characters that reorder, hide or fake text: bidi controls, zero-width and tag characters, soft hyphen, BOM.
 */
const deceptive =
  /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu
/** Control characters other than tab, line feed and carriage return, and lone surrogates. */
const control = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\uD800-\uDFFF]/gu
const joined_emoji = /\p{Extended_Pictographic}\uFE0F?\u200D(?=\p{Extended_Pictographic})/gu

const name = (char: string) => `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
const picture = (char: string) => {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? '␡' : name(char)
}

/**
 * Text from an agent, a repository or a person, made safe to display: what would reorder or hide text is
 * shown by its code point, control characters by their picture. Joiners inside emoji stay. For output with
 * ANSI colours, see ansi.ts.
 */
export function visible(text: string): string {
  const kept = text.replace(joined_emoji, match => match.replace('\u200D', '\uE000'))
  return kept.replace(deceptive, name).replace(control, picture).replaceAll('\uE000', '\u200D')
}
