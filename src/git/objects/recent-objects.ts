import type { GitHost } from '../process/git-host.ts'

const MAX_BYTES = 64 * 1024 ** 2
const MAX_OBJECT_BYTES = 4 * 1024 ** 2

/** Trees and files that this process has read or written lately, by name; the oldest give way. */
export class RecentObjects {
  readonly #objects = new Map<string, Buffer>()
  #bytes = 0

  get(sha: string): Buffer | null {
    const bytes = this.#objects.get(sha)
    if (bytes === undefined) return null
    this.#objects.delete(sha)
    this.#objects.set(sha, bytes)
    return bytes
  }

  set(sha: string, bytes: Buffer): void {
    if (bytes.length > MAX_OBJECT_BYTES || this.#objects.has(sha)) return
    this.#objects.set(sha, bytes)
    this.#bytes += bytes.length
    for (const [oldest, { length }] of this.#objects) {
      if (this.#bytes <= MAX_BYTES) break
      this.#objects.delete(oldest)
      this.#bytes -= length
    }
  }
}

const all = new WeakMap<GitHost, RecentObjects>()

/** Returns the recent objects of a process: a name has the same bytes in every repository. */
export function recentObjects(host: GitHost): RecentObjects {
  const known = all.get(host)
  if (known) return known
  const created = new RecentObjects()
  all.set(host, created)
  return created
}
