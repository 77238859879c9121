import { truncateStrings } from '../core/text/truncate.ts'
import { callName, shownName } from './call-name.ts'
import { type CallRequest, changedBy, MAX_TITLE, mergedRequest } from './call-request.ts'
import type { Message } from './messages.ts'

/** What is known of a tool call of an agent: updates are merged by its id. */
export type AgentToolCall = {
  id: string
  name: string
  title: string
  /**
   * What it does in the words of the protocol, such as `execute` or `edit`; null: the agent does not state
   * it.
   */
  kind: string | null
  input: Record<string, unknown>
  /** Its raw output, else its content: text, `changed` with the texts of changed files, and `exit_code`. */
  output: Record<string, unknown>
  /** What the agent has stated about it, not cut. */
  request: CallRequest
  started_at: number
}

export type PlanItem = { id: number; text: string; state: 'pending' | 'in_progress' | 'done' }

/** What an update means for the trace. Unknown updates mean nothing. */
export type AgentEvent =
  | { kind: 'text' | 'reasoning'; text: string }
  | { kind: 'plan'; items: PlanItem[] }
  | { kind: 'tool_started'; call: AgentToolCall }
  | { kind: 'tool_finished'; call: AgentToolCall; failed: boolean }

const MAX_OPEN_CALLS = 200
/** Ids of finished calls that are remembered, and the characters of an input or output that are kept. */
const MAX_FINISHED = 10_000
const MAX_KEPT = 512 * 1024
const MAX_PLAN_ITEMS = 200
const MAX_NAME = 200

/**
 * Reads the updates of one session (ACP 1). Everything in them is untrusted: fields of another type are
 * ignored. `is_served`: whether the service calls tools by this name, so that those of the agent get another
 * one.
 */
export class AgentUpdates {
  readonly #isServed: (name: string) => boolean
  readonly #open = new Map<string, AgentToolCall>()
  readonly #finished = new Set<string>()

  constructor(is_served: (name: string) => boolean) {
    this.#isServed = is_served
  }

  /**
   * Returns the event of an update without secrets; null: it has none. `sent`: the update as the agent sent
   * it, for what a person approves.
   */
  read(update: Message, now: number, sent = update): AgentEvent | null {
    const { sessionUpdate: kind } = update
    if (kind === 'agent_message_chunk' || kind === 'agent_thought_chunk') {
      const text = textOf(update.content)
      return text === '' ? null : { kind: kind === 'agent_message_chunk' ? 'text' : 'reasoning', text }
    }
    if (kind === 'plan') return { kind: 'plan', items: planItems(update.entries) }
    if (kind === 'tool_call' || kind === 'tool_call_update') return this.#toolCall(update, sent, now)
    return null
  }

  /** Takes the calls that have started and not finished, and counts them as finished. */
  takeOpen(): AgentToolCall[] {
    return [...this.#open.keys()].flatMap(id => this.take(id) ?? [])
  }

  /**
   * Takes one of the calls that have started and not finished, and counts it as finished; null: there is none
   * with this id.
   */
  take(id: string): AgentToolCall | null {
    const call = this.#open.get(id)
    if (call === undefined) return null
    this.#open.delete(id)
    if (this.#finished.size < MAX_FINISHED) this.#finished.add(id)
    return call
  }

  /** Returns a call that has started and not finished. */
  get(id: string): AgentToolCall | null {
    return this.#open.get(id) ?? null
  }

  #toolCall(update: Message, sent: Message, now: number): AgentEvent | null {
    const { toolCallId: id } = update
    if (typeof id !== 'string' || id === '' || id.length > MAX_NAME) return null
    // A later update of a finished call is not a second call.
    if (this.#finished.has(id)) return null
    const before = this.#open.get(id)
    const call = merged(id, { update, sent }, before, now)
    if (before === undefined) call.name = callName(call.name, this.#isServed)
    if (update.status === 'completed' || update.status === 'failed') {
      this.#open.delete(id)
      if (this.#finished.size < MAX_FINISHED) this.#finished.add(id)
      return { kind: 'tool_finished', call, failed: update.status === 'failed' }
    }
    if (before === undefined && this.#open.size >= MAX_OPEN_CALLS) return null
    this.#open.set(id, call)
    // Its input is known once it runs.
    const starts =
      update.status === 'in_progress' && (before === undefined || Object.keys(before.input).length === 0)
    return before === undefined || starts ? { kind: 'tool_started', call } : null
  }
}

type Update = { update: Message; sent: Message }

function merged(
  id: string,
  { update, sent }: Update,
  before: AgentToolCall | undefined,
  now: number,
): AgentToolCall {
  const title = typeof update.title === 'string' ? update.title.slice(0, MAX_TITLE) : (before?.title ?? '')
  return {
    id,
    title,
    name: before?.name ?? nameOf(update, id, title),
    kind:
      typeof update.kind === 'string' && update.kind !== ''
        ? update.kind.slice(0, MAX_NAME)
        : (before?.kind ?? null),
    input:
      isObject(update.rawInput) && Object.keys(update.rawInput).length > 0
        ? kept(update.rawInput)
        : (before?.input ?? {}),
    output: kept({ ...before?.output, ...outputOf(update, before) }),
    request: mergedRequest(before?.request ?? {}, sent),
    started_at: before?.started_at ?? now,
  }
}

const kept = (value: Record<string, unknown>) =>
  truncateStrings(value, MAX_KEPT).value as Record<string, unknown>

/**
 * Without a name, the first title of a call is that of its tool with some agents, and a sentence with others;
 * then its kind is more useful.
 */
function nameOf({ name, kind, _meta }: Message, id: string, title: string): string {
  const of_claude = isObject(_meta) && isObject(_meta.claudeCode) ? _meta.claudeCode.toolName : null
  const named = [name, of_claude]
    .map(value => (typeof value === 'string' ? shownName(value) : ''))
    .find(value => value !== '')
  if (named !== undefined) return named
  // Gemini CLI has it in the id only.
  const [, repeated] = /^([\w.:-]{1,64}?)__\1_/.exec(id) ?? []
  if (repeated !== undefined) return repeated
  if (/^[\w.:-]{1,64}$/.test(title)) return title
  return (typeof kind === 'string' && shownName(kind)) || 'other'
}

/** Returns what an update adds to the output of its call. */
function outputOf(
  { rawOutput, content, _meta }: Message,
  before: AgentToolCall | undefined,
): Record<string, unknown> {
  const parts = Array.isArray(content) ? content.filter(isObject) : []
  const text = parts.map(part => textOf(part.content)).join('')
  const changed = changedBy(content)
  return {
    ...(text !== '' && { output: text }),
    ...(typeof rawOutput === 'string' && { output: rawOutput, ...exitCodeIn(rawOutput) }),
    ...(isObject(rawOutput) && rawOutput),
    ...(changed.length > 0 && { changed }),
    ...(isObject(_meta) && terminalOf(_meta, before?.output.output)),
  }
}

/** Claude Code begins the output of a command that failed so. */
function exitCodeIn(output: string): { exit_code?: number } {
  const [, code] = /^Exit code (\d{1,3})(?:\n|$)/.exec(output) ?? []
  return code === undefined ? {} : { exit_code: Number(code) }
}

/** Codex sends the output of a command in pieces. */
function terminalOf(meta: Record<string, unknown>, before: unknown): Record<string, unknown> {
  const { terminal_output_delta: delta, terminal_exit: exit } = meta
  const piece = isObject(delta) && typeof delta.data === 'string' ? delta.data : ''
  return {
    ...(piece !== '' && { output: (typeof before === 'string' ? before : '') + piece }),
    ...(isObject(exit) && typeof exit.exit_code === 'number' && { exit_code: exit.exit_code }),
  }
}

const PLAN_STATES = new Map<string, PlanItem['state']>([
  ['in_progress', 'in_progress'],
  ['completed', 'done'],
])

/** Returns the items of a plan; those of anything else are none. */
export function planItems(entries: unknown): PlanItem[] {
  const items = Array.isArray(entries) ? entries.filter(isObject).slice(0, MAX_PLAN_ITEMS) : []
  return items.map(({ content, status }, i) => ({
    id: i + 1,
    text: typeof content === 'string' ? content.slice(0, MAX_TITLE) : '',
    state: (typeof status === 'string' && PLAN_STATES.get(status)) || 'pending',
  }))
}

const textOf = (content: unknown): string =>
  isObject(content) && typeof content.text === 'string' ? content.text : ''
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
