import { isUtf8 } from 'node:buffer'

/** Decodes bytes of git as text for storage and display: invalid UTF-8, and NUL, becomes U+FFFD. */
export function shownText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll('\0', '\ufffd')
}

/**
 * Decodes a path as text: itself when it is UTF-8 (newlines included), otherwise quoted with octal escapes as
 * git writes it, so that different paths stay different.
 */
export function shownPath(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return `"${Array.from(bytes, escaped).join('')}"`
}

const NAMED: Record<number, string> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
}

function escaped(byte: number): string {
  const named = NAMED[byte]
  if (named) return named
  return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
}

const BYTE_OF: Record<string, number> = Object.fromEntries(
  Object.entries(NAMED).map(([byte, shown]) => [shown[1], Number(byte)]),
)

/** Returns the bytes of a path that `shownPath` quotes as this text; null when there are none. */
export function bytesOfPath(shown: string): Buffer | null {
  if (!/^"([^"\\]|\\.)*"$/s.test(shown)) return null
  const bytes: number[] = []
  for (const [part, octal, named] of shown.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]/gs))
    bytes.push(
      octal === undefined
        ? named === undefined
          ? part.charCodeAt(0)
          : (BYTE_OF[named] ?? 0)
        : Number.parseInt(octal, 8),
    )
  const path = Buffer.from(bytes)
  return shownPath(path) === shown ? path : null
}
