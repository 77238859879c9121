import { isUtf8 } from 'node:buffer'

/** Decodes bytes of git as text for storage and display: invalid UTF-8, and NUL, becomes U+FFFD. */
export function shownText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll('\0', '\ufffd')
}

/**
 * Decodes a path as text: itself when it is UTF-8 (newlines included), otherwise quoted with octal escapes as git writes it, so that
 * different paths stay different.
 */
export function shownPath(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return `"${Array.from(bytes, escaped).join('')}"`
}

const NAMED: Record<number, string> = { 7: '\\a', 8: '\\b', 9: '\\t', 10: '\\n', 11: '\\v', 12: '\\f', 13: '\\r', 34: '\\"', 92: '\\\\' }

function escaped(byte: number): string {
  const named = NAMED[byte]
  if (named) return named
  return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
}
