import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type SmallDisk = Disposable & {
  path: string
  /** Takes all the space that is left. */
  fill(): void
  /** Gives it back. */
  free(): void
}

/** A file system of so many bytes in a folder of its own; only root may mount one. */
export function mountSmallDisk(bytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'agentrun-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0755`, 'tmpfs', path])
  chmodSync(path, 0o755)
  const filler = join(path, 'filler')
  return {
    path,
    fill() {
      const { bavail, bsize } = statfsSync(path)
      execFileSync('fallocate', ['-l', String(Math.max(1, bavail * bsize)), filler])
    },
    free: () => rmSync(filler, { force: true }),
    [Symbol.dispose]() {
      execFileSync('umount', ['--lazy', path])
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** Why the tests that need one are left out here; null: they are not. Never in CI, which is root. */
export function whyNoSmallDisk(): string | null {
  if (process.getuid?.() !== 0) return 'only root may mount a file system'
  try {
    mountSmallDisk(1024 * 1024)[Symbol.dispose]()
    return null
  } catch (error) {
    if (process.env.CI) throw error
    return `a file system cannot be mounted here: ${String(error)}`
  }
}
