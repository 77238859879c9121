/** What a command wrote, as text for people and models. Binary output is said to be binary and kept as base64 up to a bound. */
export type OutputText = { output: string; binary?: true; base64?: string }

/** Bytes of binary output that are kept as base64. */
export const BASE64_BYTES = 12 * 1024
const decoder = new TextDecoder('utf-8', { fatal: false })

/** `total_bytes`: what there was in all, when `bytes` are only part of it. */
export function outputText(bytes: Uint8Array, total_bytes = bytes.length): OutputText {
  const text = decoder.decode(bytes)
  if (!looksBinary(text)) return { output: text }
  const kept = bytes.subarray(0, BASE64_BYTES)
  return { output: `[binary output, ${total_bytes} bytes]`, binary: true, base64: Buffer.from(kept).toString('base64') }
}

export const isBinary = (bytes: Uint8Array): boolean => looksBinary(decoder.decode(bytes))

/** NUL never stands in text; a few broken characters do, where a multi-byte character was cut. */
function looksBinary(text: string): boolean {
  if (text.includes('\0')) return true
  let broken = 0
  for (const char of text) if (char === '\uFFFD') broken++
  return broken > 8 && broken > text.length / 50
}
