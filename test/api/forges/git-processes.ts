import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Command lines of processes that run in a folder or below it, or have it as an argument. */
export function processesIn(folder: string): string[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap(pid => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return `${command}${readlinkSync(`/proc/${pid}/cwd`)}`.includes(folder) ? [command] : []
      } catch {
        // It has ended meanwhile.
        return []
      }
    })
}
