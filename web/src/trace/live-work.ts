import { actionTool } from '../../../src/contract/runs/action-tools.ts'
import type { LogEntry } from '../../../src/contract/runs/logs.ts'
import { isServiceTool } from './tool-kind.ts'

/**
 * A running tool: its ACTION entry follows when it has ended. A stream that was opened meanwhile has only its
 * output: then name and start are ''.
 */
export type LiveTool = {
  call_id: string
  tool_name: string
  tool_input: Record<string, unknown>
  started_at: string
  output: string
  /** Known from before the connection broke: it may have ended, and output may be missing. */
  stale?: true
}

/** A limit that is almost used up, as reported to the agent. */
export type LiveLimit = { limit: string; used: number; allowed: number }

/** Output of a call that was not announced: it was too short for that, or its announcement follows. */
type EarlyOutput = { call_id: string; output: string }

/**
 * The current activity of a run that no entry shows yet. `ended`: the calls of the last entries, whose late
 * output belongs to no card. `early`: the newest output that opens no card; null until a call was reported:
 * until then output is that of a call that was announced before.
 */
export type LiveWork = {
  tools: LiveTool[]
  ended: string[]
  early: EarlyOutput | null
  reasoning: string
  text: string
  limits: LiveLimit[]
}

export const nothing_live: LiveWork = {
  tools: [],
  ended: [],
  early: null,
  reasoning: '',
  text: '',
  limits: [],
}

const nothing_early: EarlyOutput = { call_id: '', output: '' }

/** Actions of the service that are announced and stream their output like tools of the agent. */
const service_commands: ReadonlySet<string> = new Set([
  actionTool.check,
  actionTool.setup_command,
  actionTool.setup_proof,
])

/** Whether a tool is a command, which may have no output yet. */
export const hasTerminal = ({ tool_name, output }: LiveTool): boolean =>
  output !== '' || tool_name === actionTool.shell || service_commands.has(tool_name)

const kept_ended = 20

/** Characters of a tool's output kept for the live view: the entry will have the rest. */
const kept_chars = 64_000

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}
const text = (value: unknown) => (typeof value === 'string' ? value : '')

/** The live work after one event of the stream without an id. Events of other kinds leave it as it is. */
export function afterEvent(work: LiveWork, event: string, data: unknown): LiveWork {
  const { call_id, tool_name, tool_input, started_at, kind, text: chunk } = record(data)
  if (event === 'text') {
    const key = kind === 'reasoning' ? 'reasoning' : 'text'
    return { ...work, [key]: (work[key] + text(chunk)).slice(-kept_chars) }
  }
  if (event === 'tool') {
    const known = work.tools.find(other => other.call_id === text(call_id))
    const tool = {
      call_id: text(call_id),
      tool_name: text(tool_name),
      tool_input: record(tool_input),
      started_at: text(started_at),
      // Announced again to a reader that reconnected: its output follows, and is shown as it was until then.
      output: known?.output ?? (work.early?.call_id === text(call_id) ? work.early.output : ''),
    }
    const ended = work.ended.filter(id => id !== tool.call_id)
    return {
      ...work,
      ended,
      early: nothing_early,
      tools: [...work.tools.filter(other => other.call_id !== tool.call_id), tool],
    }
  }
  if (event === 'output') {
    const id = text(call_id)
    if (work.ended.includes(id)) return work
    const known = work.tools.some(tool => tool.call_id === id)
    if (!known && work.early) {
      const before = work.early.call_id === id ? work.early.output : ''
      return { ...work, early: { call_id: id, output: (before + text(chunk)).slice(-kept_chars) } }
    }
    const tools = known
      ? work.tools
      : [...work.tools, { call_id: id, tool_name: '', tool_input: {}, started_at: '', output: '' }]
    const extend = (tool: LiveTool) =>
      tool.call_id === id ? withOutput(tool, (tool.output + text(chunk)).slice(-kept_chars)) : tool
    return { ...work, tools: tools.map(extend) }
  }
  if (event === 'so_far') return partsIn(record(data).parts).reduce(afterPart, work)
  if (event === 'notice') {
    const near = limitsIn(record(data).limits)
    return {
      ...work,
      limits: [...work.limits.filter(({ limit }) => near.every(other => other.limit !== limit)), ...near],
    }
  }
  return work
}

const withOutput = ({ stale: _, ...tool }: LiveTool, output: string): LiveTool => ({ ...tool, output })

const partsIn = (value: unknown) => (Array.isArray(value) ? value : []).map(record)

/**
 * The live work once the end of an output or text is known: it replaces what is shown, unless that contains
 * it.
 */
function afterPart(work: LiveWork, part: Record<string, unknown>): LiveWork {
  const end = text(part.text)
  const replaced = (shown: string) => (shown.endsWith(end) ? shown : end)
  if (part.event === 'text') {
    const key = part.kind === 'reasoning' ? 'reasoning' : 'text'
    return { ...work, [key]: replaced(work[key]) }
  }
  if (part.event !== 'output') return work
  const known = work.tools.find(tool => tool.call_id === part.call_id)
  if (!known) return { ...afterEvent({ ...work, early: null }, 'output', part), early: work.early }
  return {
    ...work,
    tools: work.tools.map(tool => (tool === known ? withOutput(tool, replaced(tool.output)) : tool)),
  }
}

/** The live work without a connection: it stays as it was last seen. */
export const afterDisconnect = (work: LiveWork): LiveWork => ({
  ...work,
  tools: work.tools.map(tool => ({ ...tool, stale: true })),
})

/**
 * The live work with a new connection: entries of what has ended follow, and what the rest contains so far.
 */
export const afterReconnect = (work: LiveWork): LiveWork => ({ ...work, reasoning: '', text: '' })

function limitsIn(value: unknown): LiveLimit[] {
  return (Array.isArray(value) ? value : []).flatMap(item => {
    const { limit, used, allowed } = record(item)
    return typeof limit === 'string' && typeof used === 'number' && typeof allowed === 'number'
      ? [{ limit, used, allowed }]
      : []
  })
}

/**
 * The live work once an entry is written. Tools run one after the other, so the entry ends the first card of
 * its tool. An entry of the agent also supersedes the text of the model; the service works while the model
 * generates.
 */
export function afterEntry(work: LiveWork, { message_type, tool_name }: LogEntry): LiveWork {
  if (message_type === 'USER_MESSAGE') return work
  if (message_type === 'FINAL_ANSWER') return nothing_live
  const of_service = message_type === 'ACTION' && isServiceTool(tool_name)
  if (of_service && !service_commands.has(tool_name ?? '')) return work
  const name =
    message_type === 'PLAN_EVALUATION' ? actionTool.plan : message_type === 'ACTION' ? tool_name : null
  const ended =
    name === null ? undefined : work.tools.find(tool => tool.tool_name === name || tool.tool_name === '')
  const left = {
    ...work,
    tools: work.tools.filter(tool => tool !== ended),
    ended: ended ? [...work.ended, ended.call_id].slice(-kept_ended) : work.ended,
    early: name === null ? work.early : (work.early ?? nothing_early),
  }
  return of_service ? left : { ...left, reasoning: '', text: '' }
}
