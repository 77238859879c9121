import type { RunFile } from '../../contract/runs/run-files.ts'

type Encoding = NonNullable<RunFile['encoding']>

const marks: [Encoding, number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]
/** Control characters that no text in windows-1252 has; escape sequences of terminals are text. */
const NO_TEXT = /[\0-\x06\x0e-\x1a\x1c-\x1f\x7f]/

/**
 * Decodes a file as text, by its byte order mark, as UTF-8, or as windows-1252, which older files use. Null:
 * it is not text. `truncated`: the bytes are only its beginning, so the last character may be incomplete.
 */
export function fileText(bytes: Uint8Array, truncated: boolean): { encoding: Encoding; text: string } | null {
  const marked = marks.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte))?.[0]
  const encoding = marked ?? 'utf-8'
  const text = decoded(bytes, encoding, truncated)
  if (text !== null) return text.includes('\0') ? null : { encoding, text }
  const legacy = marked === undefined ? decoded(bytes, 'windows-1252', truncated) : null
  return legacy === null || NO_TEXT.test(legacy) ? null : { encoding: 'windows-1252', text: legacy }
}

/** Returns null for bytes that are not in the encoding. */
function decoded(bytes: Uint8Array, encoding: Encoding, truncated: boolean): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: truncated })
  } catch {
    return null
  }
}
