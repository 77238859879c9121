import { createReadStream, readSync } from 'node:fs'

/**
 * Reads the next `length` bytes from the position of a file, and moves it. One read may return less; throws
 * when the file ends before.
 */
export function readExactly(file: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  for (let at = 0; at < length; ) {
    const count = readSync(file, bytes, at, length - at, null)
    if (count === 0) throw new Error(`the file ends after ${at} of ${length} bytes`)
    at += count
  }
  return bytes
}

/** Returns the first `max_bytes` of a file, or all of a shorter one. */
export async function readStart(path: string, max_bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = await createReadStream(path, { end: max_bytes - 1 }).toArray()
  return Buffer.concat(chunks)
}
