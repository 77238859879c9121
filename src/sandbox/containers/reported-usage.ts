import { settledWithin } from '../../core/timeout.ts'
import { no_usage, type ResourceUsage } from '../resources/bounds.ts'

/** The usage of a container, as its process 1 reads it from its own control groups where the host cannot. */
export type ReportedUsage = {
  /** The last reported usage, which is updated every second. */
  usage(): ResourceUsage
  /** Requests an update. Resolves when it was reported, or when there is no response. */
  refresh(): Promise<void>
  /** Returns whether a line of process 1 was a usage report. */
  read(line: string): boolean
}

const REPORT_TIMEOUT_MS = 1_000

/**
 * Returns the usage of a container as its init process reports it. `refresh` requests a report, and settles
 * without one after a timeout.
 */
export function reportedUsage(send: (line: string) => void): ReportedUsage {
  let last = no_usage
  const waiting: (() => void)[] = []
  return {
    usage: () => last,
    async refresh() {
      const reported = new Promise<void>(resolve => waiting.push(resolve))
      send('usage')
      await settledWithin(reported, REPORT_TIMEOUT_MS)
    },
    read(line) {
      const [, memory, peak, kills, cpu] = /^usage (\d+) (\d+) (\d+) (\d+)$/.exec(line) ?? []
      if (cpu === undefined) return line.startsWith('usage ')
      const memory_bytes = Number(memory)
      last = {
        memory_bytes,
        peak_memory_bytes: Math.max(Number(peak), memory_bytes, last.peak_memory_bytes),
        memory_kills: Number(kills),
        cpu_ms: Number(cpu) / 1_000,
      }
      for (const resolve of waiting.splice(0)) resolve()
      return true
    },
  }
}
