import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'

export const MAX_BUNDLE_BYTES = 512 * 1024 ** 2

type Sink = (chunk: Uint8Array) => Promise<void>

/** The file in which commits of a publication leave the sandbox, one after the other. */
export type BundleFile = AsyncDisposable & {
  readonly path: string
  /** The commit that the file is a bundle of. */
  head: string | null
  /** Replaces the content by what `write` passes on, and returns its result, or that it is too large. */
  fill<T>(write: (sink: Sink) => Promise<T>): Promise<T | 'too_large'>
}

/** Returns the file of a claim, which exists from its first content until it is disposed of. */
export function openBundleFile(folder: string, claim: { run_id: number; epoch: number }): BundleFile {
  const path = join(folder, `${claim.run_id}-${claim.epoch}.bundle`)
  const file: BundleFile = {
    path,
    head: null,
    async fill(write) {
      file.head = null
      await rm(path, { force: true })
      await using content = await open(path, 'wx', 0o600)
      let bytes = 0
      const sink: Sink = async chunk => {
        bytes += chunk.length
        if (bytes > MAX_BUNDLE_BYTES) throw new RangeError('bundle too large')
        // Writes all of it, where `write` may stop early.
        await content.appendFile(chunk)
      }
      try {
        return await write(sink)
      } catch (error) {
        if (error instanceof RangeError) return 'too_large'
        throw error
      }
    },
    [Symbol.asyncDispose]: () => rm(path, { force: true }),
  }
  return file
}
