import { waitsForPerson } from '../sdk/follow.ts'
import type { AgentRun, LogEntry } from '../sdk/operations.ts'
import type { RunHandle } from '../sdk/runs.ts'
import type { CommandArguments, Options } from './command.ts'
import { entryLines } from './entry-lines.ts'
import { exitCodeOfRun, InterruptedError } from './exit.ts'
import { outcomeLines, runLine, statusText } from './format-run.ts'
import { plainText } from './plain-text.ts'

/** How `run` and `resume` stay with a run. */
export const watching = {
  follow: { type: 'boolean', short: 'f', about: 'show the trace until the run rests' },
  wait: { type: 'boolean', short: 'w', about: 'wait until the run rests' },
} as const satisfies Options

type WatchArguments = CommandArguments<typeof watching>

/**
 * Prints the started run and, with `--wait` or `--follow`, waits for it: the exit code is then the outcome of
 * the run. As JSON it prints the run; with `--follow` one entry per line and the run as the last line.
 * `after_seq`: the entry after which the trace is shown.
 */
export async function watchRun(
  given: WatchArguments,
  handle: RunHandle,
  after_seq: (run: AgentRun) => number,
): Promise<number> {
  const { json, print, values } = given
  const started = await handle
  if (!values.follow && !values.wait) {
    if (json) print.json(started)
    else {
      print.line(runLine(started, print))
      print.line(`  ${plainText(started.web_url)}`)
    }
    return 0
  }
  if (!json) print.note(`run ${started.id}: ${started.web_url}`)
  const run = await staying(given, started.id, async () => {
    if (values.follow)
      return showTrace(
        given,
        handle.follow({ after_seq: after_seq(started), signal: given.signal, until: 'rest' }),
      )
    print.progress(`run ${started.id}: ${statusText(started)}`)
    return handle.wait({ signal: given.signal })
  })
  if (json) print.json(run)
  else {
    print.line(runLine(run, print))
    for (const line of outcomeLines(run)) print.line(line)
    if (!run.terminal) print.note(whatNext(run))
  }
  return exitCodeOfRun(run)
}

/**
 * Shows the entries of a stream as they come, and the state of the run as progress; returns the run as the
 * stream left it.
 */
export async function showTrace(
  { json, print }: CommandArguments<Options>,
  events: ReturnType<RunHandle['follow']>,
  options: { shows?: (entry: LogEntry) => boolean; full?: boolean } = {},
): Promise<AgentRun> {
  const { shows = () => true, full = false } = options
  let run: AgentRun | undefined
  let doing = ''
  for await (const event of events) {
    if (event.type === 'log' && shows(event.entry)) {
      if (json) print.json(event.entry)
      else for (const line of entryLines(event.entry, print, full)) print.line(line)
    }
    if (event.type === 'run') run = event.run
    else doing = event.type === 'log' ? '' : lastWords(event.data) || doing
    if (run !== undefined)
      print.progress([`run ${run.id}: ${statusText(run)}`, doing].filter(Boolean).join(' · '))
  }
  print.progress(null)
  if (run === undefined) throw new Error('the stream ended without the run')
  return run
}

/** What passes by: the name of a tool that begins, or the last line of its output or of the model. */
const lastWords = ({ tool_name, text }: Record<string, unknown>) =>
  typeof tool_name === 'string'
    ? tool_name
    : typeof text === 'string'
      ? (text.trimEnd().split('\n').at(-1) ?? '')
      : ''

/** Reports on Ctrl-C that only the watching ends. */
export async function staying<T>(
  { print, signal }: Pick<CommandArguments<Options>, 'print' | 'signal'>,
  id: number,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted && error instanceof InterruptedError)
      print.note(
        `run ${id} continues. To stop it: agentrun stop ${id}. To follow it again: agentrun logs -f ${id}`,
      )
    throw error
  } finally {
    print.progress(null)
  }
}

function whatNext(run: AgentRun): string {
  if (waitsForPerson(run)) return `run ${run.id} waits for you: agentrun resume ${run.id} "your answer"`
  return `run ${run.id} is paused: agentrun resume ${run.id} "go on", perhaps with a larger budget`
}
