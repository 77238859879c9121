import type { RunEvent } from '../../../../src/client/sdk/follow.ts'
import { type ActionTool, actionTool } from '../../../../src/contract/runs/action-tools.ts'
import type { LogEntry } from '../../../../src/contract/runs/logs.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { plural } from '../../text/format.ts'
import { isObject, numberAt, objectsAt, textAt } from '../fields.ts'

/** The setup of a run as its stream has shown it so far. */
export type SetupProgress = {
  /** Null until all earlier entries have arrived. */
  run: AgentRun | null
  entries: LogEntry[]
  running: RunningCommand | null
  /** The `call_id` of the last command that ended: the rest of its output may arrive after its entry. */
  ended: string | null
}

/** `command`: null if the stream was opened after it began. */
type RunningCommand = { call_id: string | null; command: string | null; output: string }

export const no_progress: SetupProgress = { run: null, entries: [], running: null, ended: null }

/** Characters of a running command's output. Its entry has the rest. */
const SHOWN_CHARS = 16_000

const { setup_proposal, setup_command, setup_proof, setup_repair, environment } = actionTool
const commands = new Set<string>([setup_command, setup_proof] satisfies ActionTool[])
const steps = new Set<string>([...commands, setup_proposal, setup_repair, environment] satisfies string[])

export const isCommand = ({ tool_name }: LogEntry) => commands.has(tool_name ?? '')
export const hasFailed = ({ tool_output }: LogEntry) => textAt(tool_output, 'status') === 'error'

/**
 * The progress after one event. Commands run one after the other, so the entry of a command ends the running
 * one.
 */
export function afterEvent(progress: SetupProgress, event: RunEvent): SetupProgress {
  const { running } = progress
  if (event.type === 'run')
    return { ...progress, run: event.run, running: event.run.terminal ? null : running }
  if (event.type === 'log')
    return steps.has(event.entry.tool_name ?? '') ? afterStep(progress, event.entry) : progress
  if (event.type === 'notice' || event.type === 'text') return progress
  if (event.type === 'so_far') return objectsAt(event.data, 'parts').reduce(afterPart, progress)
  const call_id = textAt(event.data, 'call_id')
  if (event.type === 'output') {
    if (running === null && call_id === progress.ended) return progress
    const output = (running?.output ?? '') + (textAt(event.data, 'text') ?? '')
    return {
      ...progress,
      running: { ...(running ?? { call_id, command: null }), output: output.slice(-SHOWN_CHARS) },
    }
  }
  if (!commands.has(textAt(event.data, 'tool_name') ?? '')) return progress
  return { ...progress, running: { call_id, command: textAt(event.data.tool_input, 'command'), output: '' } }
}

/** The end of an output so far replaces what is shown of it, unless that contains it. */
function afterPart(progress: SetupProgress, part: Record<string, unknown>): SetupProgress {
  if (part.event !== 'output' || part.call_id === progress.ended) return progress
  const known = progress.running?.call_id === part.call_id ? progress.running : null
  if (known?.output.endsWith(textAt(part, 'text') ?? '')) return progress
  return afterEvent(
    { ...progress, running: known && { ...known, output: '' } },
    { type: 'output', data: part },
  )
}

function afterStep({ run, entries, running, ended }: SetupProgress, entry: LogEntry): SetupProgress {
  const all = [...entries, entry]
  return isCommand(entry)
    ? { run, entries: all, running: null, ended: running?.call_id ?? ended }
    : { run, entries: all, running, ended }
}

/** One line for an entry: the command, or what the service did. */
export function lineOf({ tool_name, tool_input, tool_output }: LogEntry): string {
  if (tool_name === setup_proposal)
    return `Found ${plural(objectsAt(tool_output, 'commands').length, 'command')} to try`
  if (tool_name === setup_repair) return textAt(tool_output, 'why') ?? 'Changed the commands'
  if (tool_name !== environment) return textAt(tool_input, 'command') ?? ''
  const error = textAt(tool_output, 'error')
  if (error !== null) return error
  if (isObject(tool_output) && tool_output.made === true)
    return tool_output.kept === true
      ? 'Stored the environment for later runs'
      : 'The environment was not stored'
  return `Reused the environment of run #${numberAt(tool_output, 'made_by_run') ?? '?'}`
}

/** The run whose environment was reused instead of executing the commands; null if it was not. */
export function reusedFrom(entries: LogEntry[]): number | null {
  const entry = entries.find(
    ({ tool_name, tool_output }) =>
      tool_name === environment && isObject(tool_output) && tool_output.made === false,
  )
  return numberAt(entry?.tool_output, 'made_by_run')
}
