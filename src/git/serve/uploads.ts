import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'

/** Who sends: an organization and a user have a limited number of bodies on their way. */
export type Sender = { organization_id: number; user_id: number }

/**
 * The body of a request as a file, which disposal removes. `is_whole`: it has at most the bytes that are
 * allowed; otherwise the file ends there.
 */
export type Upload = AsyncDisposable & { path: string; bytes: number; is_whole: boolean }

const FOLDER = 'uploads'
const MAX_OF_USER = 8
const MAX_OF_ORGANIZATION = 32
/** Bytes of all bodies together, as a multiple of the largest push. */
const MAX_PUSHES = 8
/** A body arrives at least this fast, measured after the first seconds. */
const MIN_BYTES_PER_SECOND = 8 * 1024
const GRACE_MS = 30_000

type ArrivingUpload = Sender & { bytes: number; refused: GitError | null }

/**
 * Receives the bodies of git clients. A slow client occupies only a file: git starts when all has arrived.
 */
export function createUploads(host: GitHost) {
  const arriving = new Set<ArrivingUpload>()
  const folder = join(host.home, FOLDER)
  let ready: Promise<void> | null = null
  const count = (key: keyof Sender, value: number) => [...arriving].filter(one => one[key] === value).length

  /** What a killed service left is removed first. */
  async function prepare(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(folder)) await rm(join(folder, name), { force: true })
  }

  /**
   * Reads a body to its end, at most twice `max_bytes`, so that the client then reads the reason. GitError
   * `unreachable` when too many bodies are on their way, and `timeout` when it arrives too slowly.
   */
  return async function receive(
    body: AsyncIterable<Buffer>,
    sender: Sender,
    max_bytes: number,
  ): Promise<Upload> {
    const used = [
      count('user_id', sender.user_id) / MAX_OF_USER,
      count('organization_id', sender.organization_id) / MAX_OF_ORGANIZATION,
    ]
    if (Math.max(...used) >= 1)
      throw new GitError('unreachable', 'too many requests of git are on their way; try again')
    const one: ArrivingUpload = { ...sender, bytes: 0, refused: null }
    arriving.add(one)
    const path = join(folder, randomUUID())
    const end = async () => {
      arriving.delete(one)
      await rm(path, { force: true })
    }
    try {
      ready ??= prepare()
      await ready
      const size = await write(
        path,
        withPace(body, chunk => grow(one, chunk)),
        max_bytes,
      )
      return {
        path,
        bytes: Math.min(size, max_bytes),
        is_whole: size <= max_bytes,
        [Symbol.asyncDispose]: end,
      }
    } catch (error) {
      await end()
      throw error
    }
  }

  /** When all of them take too much, the largest body of the organization with the most bytes is refused. */
  function grow(one: ArrivingUpload, chunk: Buffer): void {
    one.bytes += chunk.length
    const total = [...arriving].reduce((sum, { bytes }) => sum + bytes, 0)
    if (total > MAX_PUSHES * host.max_push_bytes) {
      const largest = largestOf(arriving)
      if (largest)
        largest.refused = new GitError(
          'unreachable',
          'too much data is being pushed to this service; try again',
        )
    }
    if (one.refused) throw one.refused
  }
}

function largestOf(arriving: Set<ArrivingUpload>): ArrivingUpload | undefined {
  const of_organization = new Map<number, number>()
  for (const { organization_id, bytes } of arriving)
    of_organization.set(organization_id, (of_organization.get(organization_id) ?? 0) + bytes)
  const weight = (one: ArrivingUpload) => of_organization.get(one.organization_id) ?? 0
  return [...arriving].sort((a, b) => weight(b) - weight(a) || b.bytes - a.bytes)[0]
}

async function* withPace(
  body: AsyncIterable<Buffer>,
  onChunk: (chunk: Buffer) => void,
): AsyncGenerator<Buffer> {
  const started = performance.now()
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    onChunk(chunk)
    const ms = performance.now() - started
    if (ms > GRACE_MS && bytes < (ms / 1_000) * MIN_BYTES_PER_SECOND)
      throw new GitError(
        'timeout',
        `the data arrives more slowly than ${MIN_BYTES_PER_SECOND / 1024} KiB per second`,
      )
    yield chunk
  }
}

/** Writes at most `max_bytes`, and returns how much of the body was read. */
async function write(path: string, body: AsyncIterable<Buffer>, max_bytes: number): Promise<number> {
  await using file = await open(path, 'wx', 0o600)
  let size = 0
  for await (const chunk of body) {
    const part = chunk.subarray(0, Math.max(0, max_bytes - size))
    size += chunk.length
    if (part.length > 0) await file.appendFile(part)
    if (size > 2 * max_bytes) break
  }
  return size
}
