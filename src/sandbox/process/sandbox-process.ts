import type { ResourceUsage } from '../resources/bounds.ts'

/**
 * A process that a driver has started, with process 1 (inside/init.sh) in it. The layers above are the same
 * for all drivers.
 */
export type SandboxProcess = {
  /** Sends one line to process 1; ignored after its end. */
  send(line: string): void
  /** Called once, immediately: receives the lines of process 1. */
  listen(on_line: (line: string) => void): void
  /** Resolves when the sandbox's ports are open; rejects with SandboxLostError when they cannot be opened. */
  readonly ports: Promise<void>
  usage(): ResourceUsage
  /** Resolves when `usage` is up to date. */
  refreshUsage(): Promise<void>
  /** The host's id of process 1; 0 where it is not visible. */
  pid(): number
  /** Identifies it for `end` of its driver. Null when it is gone. */
  identity(): string | null
  /** One line, after its end: why it ended, from the program that started it. Empty when unknown. */
  complaint(): Promise<string>
  /** Kills everything inside; resolves when the last process is gone. */
  stop(): Promise<void>
  /** Resolves when the last process inside has ended. */
  readonly ended: Promise<void>
}
