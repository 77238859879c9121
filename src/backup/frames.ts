import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'

/**
 * A backup is one gzip file of frames, each a letter, a length and that many bytes: `H` is the header, `T`
 * begins a table, `D` is a piece of its rows as COPY writes them, `Z` ends the file with the digest of
 * everything before. A file without a correct `Z` is not a backup.
 */
export type Frame = { kind: 'H' | 'T' | 'D' | 'Z'; body: Buffer }

const HEAD_BYTES = 5
/** More than any frame has. */
const MAX_FRAME_BYTES = 2 ** 30

export type FrameWriter = {
  write(kind: 'H' | 'T' | 'D', body: Buffer): Promise<void> | void
  finish(): Promise<{ bytes: number; sha256: string }>
}

const endText = (sha256: string) => JSON.stringify({ sha256 })

/**
 * Writes to a file beside `path`, renamed to `path` once it is complete and on disk. Only its owner can read
 * it. Disposing it unfinished removes it.
 */
export async function writeFrames(path: string): Promise<FrameWriter & AsyncDisposable> {
  if (existsSync(path)) throw new Error(`${path} exists already`)
  const part = `${path}.part`
  const file = createWriteStream(part, { mode: 0o600, flags: 'wx' })
  await once(file, 'open')
  const gzip = createGzip({ level: 1 })
  const digest = createHash('sha256')
  const written = pipeline(gzip, file)
  written.catch(() => {})
  let bytes = 0
  let finished = false
  let draining: Promise<void> | null = null
  const put = (kind: Frame['kind'], body: Buffer): Promise<void> | undefined => {
    const head = Buffer.alloc(HEAD_BYTES)
    head.write(kind, 0, 'latin1')
    head.writeUInt32BE(body.length, 1)
    if (kind !== 'Z') digest.update(head).update(body)
    bytes += HEAD_BYTES + body.length
    gzip.write(head)
    if (gzip.write(body)) return undefined
    draining ??= Promise.race([once(gzip, 'drain').then(() => {}), written]).finally(() => {
      draining = null
    })
    return draining
  }
  return {
    write: put,
    async finish() {
      const sha256 = digest.digest('hex')
      await put('Z', Buffer.from(endText(sha256)))
      gzip.end()
      await written
      const handle = await open(part, 'r')
      await handle.sync()
      await handle.close()
      await rename(part, path)
      finished = true
      return { bytes, sha256 }
    },
    async [Symbol.asyncDispose]() {
      if (finished) return
      gzip.destroy()
      await written.catch(() => {})
      await rm(part, { force: true })
    },
  }
}

/**
 * Yields the frames of a backup in order and checks the last one. Rejects with one line when the file is not
 * a backup, was truncated or was changed.
 */
export async function* readFrames(path: string): AsyncGenerator<Frame> {
  const digest = createHash('sha256')
  const source = createReadStream(path)
  const bytes = new ByteReader(source.pipe(createGunzip()))
  source.on('error', error => bytes.fail(error))
  for (;;) {
    const head = await bytes.take(HEAD_BYTES).catch(unreadable)
    const kind = head.toString('latin1', 0, 1)
    const length = head.readUInt32BE(1)
    if (!['H', 'T', 'D', 'Z'].includes(kind) || length > MAX_FRAME_BYTES)
      throw new Error('this file is not a backup of an Agent Run Service')
    const body = await bytes.take(length).catch(unreadable)
    if (kind === 'Z') {
      if (body.toString() !== endText(digest.digest('hex')))
        throw new Error('the backup was changed after it was written')
      yield { kind, body }
      return
    }
    digest.update(head).update(body)
    yield { kind: kind as Frame['kind'], body }
  }
}

function unreadable(error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT' || error.code === 'EACCES' || error.code === 'EISDIR') throw error
  throw new Error(
    'the backup cannot be read to its end: it was truncated or changed, or it is not a backup',
    { cause: error },
  )
}

/** Reads a given number of bytes at a time from a stream of chunks of any size. */
class ByteReader {
  readonly #pieces: AsyncIterator<Buffer>
  readonly #stream: AsyncIterable<Buffer> & { destroy(error: Error): unknown }
  #left: Buffer = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Buffer> & { destroy(error: Error): unknown }) {
    this.#stream = stream
    this.#pieces = stream[Symbol.asyncIterator]()
  }

  fail(error: Error) {
    this.#stream.destroy(error)
  }

  async take(count: number): Promise<Buffer> {
    const pieces = [this.#left]
    let have = this.#left.length
    while (have < count) {
      const { value, done } = await this.#pieces.next()
      if (done) throw new Error('the file ends here')
      pieces.push(value)
      have += value.length
    }
    const all = pieces.length === 1 ? this.#left : Buffer.concat(pieces)
    this.#left = all.subarray(count)
    return all.subarray(0, count)
  }
}
