import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type SmallDisk = Disposable & {
  path: string
  /** Takes all the space that is left. */
  fill(): void
  /** Gives it back. */
  free(): void
}

/**
 * A file system of this number of bytes over a folder, as its owner has it, or in one of its own; only root
 * may mount one.
 */
export function mountSmallDisk(bytes: number, over?: string): SmallDisk {
  const path = over ?? mkdtempSync(join(tmpdir(), 'agentrun-disk-'))
  const { uid, gid, mode } = statSync(path)
  const rights = `uid=${uid},gid=${gid},mode=${over ? (mode & 0o777).toString(8) : '755'}`
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},${rights}`, 'tmpfs', path])
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
      if (!over) rmSync(path, { recursive: true, force: true })
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
