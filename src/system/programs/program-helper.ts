import { type Command, type CommandEnd, type RunningCommand, startCommand } from './start-program.ts'

/** What the service sends to this process: a command to run, or the number of one to stop. */
export type HelperRequest = { id: number; run: Command } | { id: number; stop: true }
/** The one answer to each command. */
export type HelperAnswer = { id: number; end: CommandEnd }

const running = new Map<number, RunningCommand>()

process.on('message', (request: HelperRequest) => {
  if ('stop' in request) return running.get(request.id)?.stop()
  const { id } = request
  const command = startCommand(request.run)
  running.set(id, command)
  void command.done.then(end => {
    running.delete(id)
    // The channel may have closed: then nobody waits.
    process.send?.({ id, end } satisfies HelperAnswer, () => {})
  })
})
// Signals to the service's process group are for the service, which still needs commands while it stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
process.on('disconnect', () => process.exit(0))
