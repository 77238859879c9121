import { Socket } from 'node:net'

/** So long a service counts as alive after a report, and so often it reports. */
const ALIVE_SECONDS = 60
const REPORT_MS = 1_000

type Supervisor = {
  /** Resolves when the supervisor has ended; never without one. */
  gone: Promise<string>
  /**
   * From now on the supervisor restarts the service after a crash, and kills it when it stops reporting
   * because its event loop is stuck. If it supervises both processes, the worker starts.
   */
  reportReady(): void
}

/** `descriptor`: a pipe to supervisor.sh; undefined: the service was started without one. */
export function connectSupervisor(descriptor: string | undefined): Supervisor {
  const { promise: gone, resolve } = Promise.withResolvers<string>()
  if (descriptor === undefined) return { gone, reportReady() {} }
  const pipe = new Socket({ fd: Number(descriptor), readable: false }).unref()
  pipe.on('error', () => resolve('supervisor gone'))
  const report = () => pipe.write(`alive ${ALIVE_SECONDS}\n`)
  return {
    gone,
    reportReady() {
      pipe.write('ready\n')
      report()
      setInterval(report, REPORT_MS).unref()
    },
  }
}
