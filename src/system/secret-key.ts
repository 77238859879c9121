import { randomBytes, randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { readKey } from '../core/secrets/sealing.ts'

const NAME = 'secret.key'

/**
 * Returns the key for secrets of this data folder, 32 bytes: created at the first start, into a file that
 * only we may read. Throws an Error whose message is one line that states what to do when the file is not
 * such a one: secrets would be sealed with a key that others know.
 */
export function ownSecretKey(root: string): Buffer {
  const path = join(root, NAME)
  if (!existsSync(path)) createKeyFile(root, path)
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { uid, mode } = fstatSync(file)
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
      throw new Error(
        `${path} must belong to the user that starts the service, and nobody else may read it: chown and chmod 600 it`,
      )
    const key = readKey(readFileSync(file, 'utf8').trim())
    if (key === null)
      throw new Error(
        `${path} contains no key: restore it from a backup, or remove it and set all secrets again`,
      )
    return key
  } finally {
    closeSync(file)
  }
}

/**
 * On the disk before it has its name: a key that is cut off, or lost after a power cut, would take the
 * secrets with it.
 */
function createKeyFile(root: string, path: string): void {
  const draft = join(root, `${NAME}.${randomUUID()}`)
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(file, `${randomBytes(32).toString('hex')}\n`)
    fsyncSync(file)
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    closeSync(file)
    unlinkSync(draft)
  }
  const folder = openSync(root, constants.O_RDONLY)
  fsyncSync(folder)
  closeSync(folder)
}
