import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from '../process/git-error.ts'

const MAGIC = 'ff744f6300000002'
/** The magic and the counts by first byte, the last of which is the number of objects. */
const HEADER_BYTES = 8 + 256 * 4
const SHA_BYTES = 20
const NAMES_AT_ONCE = 10_000

/**
 * Lists the objects in the packs below a folder of objects, in parts, from the indexes that git has written:
 * without a process. GitError `too_large` when there are more than `max`, `corrupt`.
 */
export async function* listPacked(objects: string, max: number): AsyncGenerator<string[]> {
  let total = 0
  for (const name of (await readdir(join(objects, 'pack'))).filter(name => name.endsWith('.idx'))) {
    await using file = await open(join(objects, 'pack', name))
    const header = await readAt(file, 0, HEADER_BYTES)
    if (header.toString('hex', 0, 8) !== MAGIC)
      throw new GitError('corrupt', 'the index of a pack has an unknown format')
    const count = header.readUInt32BE(HEADER_BYTES - 4)
    total += count
    if (total > max) throw new GitError('too_large', `there are more than ${max} objects`)
    for (let n = 0; n < count; n += NAMES_AT_ONCE) {
      const some = Math.min(NAMES_AT_ONCE, count - n)
      const names = await readAt(file, HEADER_BYTES + n * SHA_BYTES, some * SHA_BYTES)
      yield Array.from({ length: some }, (_, i) => names.toString('hex', i * SHA_BYTES, (i + 1) * SHA_BYTES))
    }
  }
}

async function readAt(file: FileHandle, from: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes)
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await file.read(buffer, at, bytes - at, from + at)
    if (bytesRead === 0) throw new GitError('corrupt', 'the index of a pack is incomplete')
    at += bytesRead
  }
  return buffer
}
