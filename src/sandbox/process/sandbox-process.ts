import type { ResourceUsage } from '../resources/bounds.ts'

/** What a driver has started, with process 1 (inside/init.sh) in it. What is above this is the same for all drivers. */
export type SandboxProcess = {
  /** Says one line to process 1; to one that has ended, nobody. */
  send(line: string): void
  /** Called once, at once: what process 1 answers, line by line. */
  listen(on_line: (line: string) => void): void
  /** Resolves when the sandbox's ports are open; rejects with SandboxLostError when they do not get there. */
  readonly ports: Promise<void>
  usage(): ResourceUsage
  /** Resolves when `usage` is as of now. */
  refreshUsage(): Promise<void>
  /** Process 1 as this machine counts; 0 where it cannot be seen. */
  pid(): number
  /** Names it for `end` of its driver. Null when it is gone. */
  identity(): string | null
  /** One line, after its end: why it ended, as whoever started it says. Empty when nobody knows. */
  complaint(): Promise<string>
  /** Kills everything inside; resolves when the last process is gone. */
  stop(): Promise<void>
  /** Resolves when the last process inside has ended. */
  readonly ended: Promise<void>
}
