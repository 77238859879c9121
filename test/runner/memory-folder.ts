import { readFileSync, statfsSync } from 'node:fs'

export const memory_root = '/dev/shm'
/**
 * A few databases of 10 MB and more at a time, and a gigabyte of their log; a container's 64 MB are not
 * enough.
 */
const NEEDED_BYTES = 3 * 1024 ** 3

/** A folder whose files are in memory and may be programs; null without enough space and memory. */
export function memoryFolder(): string | null {
  const [, , type = '', options = ''] =
    readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map(line => line.split(' '))
      .findLast(([, folder]) => folder === memory_root) ?? []
  if (type !== 'tmpfs' || options.split(',').some(option => ['noexec', 'ro'].includes(option))) return null
  const { bavail, bsize } = statfsSync(memory_root)
  return Math.min(bavail * bsize, availableBytes() / 2) >= NEEDED_BYTES ? memory_root : null
}

/** The memory that is available to programs according to the kernel. */
function availableBytes(): number {
  const [, kilobytes = '0'] = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
