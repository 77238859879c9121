import type { ResourceUsage } from './resources/bounds.ts'

/** Process 1 of a running sandbox, seen from the host: the protocol of inside/init.sh. */
export type InitProcess = {
  readonly identity: string | null
  /** The host's id of the process; 0 where it is not visible. */
  readonly pid: number
  usage(): ResourceUsage
  refreshUsage(): Promise<void>
  /** Resolves when processes inside can connect to the sandbox's ports; rejects with SandboxLostError. */
  readonly ports: Promise<void>
  /** Sends one request, without the newline. */
  send(request: string): void
  /**
   * Kills what `job` started since `since` (performance.now). When nothing responds it ends the sandbox and
   * rejects with SandboxLostError.
   */
  kill(job: string, since: number): Promise<void>
  stop(): Promise<void>
  /** One line, after its end: why it ended. Empty when unknown. */
  complaint(): Promise<string>
  readonly ended: Promise<void>
  /** Aborted when it has ended: for temporary listeners. */
  readonly lost: AbortSignal
}
