import { createHash } from 'node:crypto'

export type ObjectType = 'commit' | 'tree' | 'blob'

/** An object that the service itself has written. */
export type WrittenObject = {
  sha: string
  type: ObjectType
  bytes: Buffer
  /** An earlier version, against which a pack may store it. It exists wherever the pack is used. */
  base: { sha: string; bytes: Buffer } | null
}

/** Returns an object with its name, as `git hash-object` computes it. */
export function writtenObject(
  type: ObjectType,
  bytes: Buffer,
  base: WrittenObject['base'] = null,
): WrittenObject {
  const sha = createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex')
  return { sha, type, bytes, base }
}
