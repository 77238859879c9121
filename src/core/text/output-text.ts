/**
 * The output of a command, as text for people and models. Bytes that are not text are shown as `\xNN` and
 * counted. Binary output is marked as binary and kept as base64 up to a limit.
 */
type OutputText = { output: string; escaped_bytes?: number; binary?: true; base64?: string }

/** Bytes of binary output that are kept as base64. */
export const BASE64_BYTES = 12 * 1024
/**
 * One UTF-8 character, or a byte that is part of none (Unicode §3.9, table 3-7), in text with one character
 * per byte.
 */
const CHARACTER =
  /[\x01-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\0\x80-\xff]/g
const decoder = new TextDecoder('utf-8', { fatal: false })

/**
 * Returns output of a program as text; binary output as base64 of its beginning. `total_bytes`: the full size
 * when `bytes` is only a part.
 */
export function outputText(bytes: Uint8Array, total_bytes = bytes.length): OutputText {
  const text = decoder.decode(bytes)
  if (!text.includes('\0') && !text.includes('\ufffd')) return { output: text }
  if (!isBinary(bytes)) return escaped(bytes)
  const kept = bytes.subarray(0, BASE64_BYTES)
  return {
    output: `[binary output, ${total_bytes} bytes]`,
    binary: true,
    base64: Buffer.from(kept).toString('base64'),
  }
}

function escaped(bytes: Uint8Array): OutputText {
  let escaped_bytes = 0
  const output = latin1(bytes).replace(CHARACTER, char => {
    if (char.length > 1 || (char > '\0' && char < '\x80')) return char
    escaped_bytes++
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
  return {
    output: Buffer.from(output, 'latin1').toString('utf8'),
    ...(escaped_bytes > 0 && { escaped_bytes }),
  }
}

/**
 * Lists of names are separated by NUL, and a cut leaves a few invalid characters; binary data has more of
 * either.
 */
export function isBinary(bytes: Uint8Array): boolean {
  let [nul, broken] = [0, 0]
  for (const byte of bytes) if (byte === 0) nul++
  for (const char of decoder.decode(bytes)) if (char === '\ufffd') broken++
  return (nul > 8 && nul > bytes.length / 4) || (broken > 8 && broken > bytes.length / 50)
}

const latin1 = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
