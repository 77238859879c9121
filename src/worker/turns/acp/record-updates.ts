import { shownRequest } from '../../../acp/call-request.ts'
import { AgentProtocolError } from '../../../acp/messages.ts'
import {
  type AgentEvent,
  type AgentToolCall,
  AgentUpdates,
  type PlanItem,
  planItems,
} from '../../../acp/updates.ts'
import type { LoopJournal, Signals } from '../../../agent/journal.ts'
import { shownOutcome, type ToolOutcome } from '../../../agent/tool.ts'
import type { ModelMessage, ModelResponse, ToolCall } from '../../../model/port.ts'
import { type BackgroundRedactor, composed, RedactionError, redactFields } from '../../../redaction/port.ts'
import { planEntry } from '../../../trace/agent-entries.ts'
import type { LiveChannel } from '../../claim/live-channel.ts'
import type { RunWriter } from '../../claim/run-writer.ts'
import { EndOfText } from './end-of-text.ts'

type RecorderContext = {
  writer: RunWriter
  live: LiveChannel
  journal: LoopJournal
  redactor: BackgroundRedactor
  /** Whether a tool of this name is one of the MCP servers of the run, which the service calls. */
  isServed(name: string): boolean
  /** Called before a tool call is recorded as started. */
  onTool(): void
  /** Called after each write that reports them. */
  onSignals(signals: Signals): void
}

/**
 * Tool calls and plans of a turn: no turn needs as many, and every one is in the journal, which recovery
 * reads as a whole.
 */
const MAX_RECORDED = 10_000

/**
 * Writes the updates of an agent of another vendor to trace and journal: a tool call becomes one ACTION with
 * the text before it as its thought, a plan PLAN_EVALUATION. The text after the last tool call is the answer.
 */
export class UpdateRecorder {
  readonly #context: RecorderContext
  #updates: AgentUpdates
  readonly #text = new EndOfText()
  readonly #reasoning = new EndOfText()
  #plan = ''
  #started_ids: Set<string> = new Set()
  #recorded = 0
  #waiting: { call: AgentToolCall; digest: string } | null = null

  constructor(context: RecorderContext) {
    this.#context = context
    this.#updates = new AgentUpdates(context.isServed)
  }

  /** A process starts, whose calls may have the ids of an earlier one. */
  processStarts(): void {
    this.#updates = new AgentUpdates(this.#context.isServed)
    this.#started_ids.clear()
  }

  /** Rejects with AgentProtocolError when the agent has reported too much. */
  async add(update: Record<string, unknown>): Promise<void> {
    this.#context.live.progressed()
    const event = this.#updates.read(await this.#redacted(update), performance.now(), update)
    if (event !== null) await this.#record(event)
  }

  /**
   * Removes secrets before anything of an update is shortened. Its texts arrive in pieces and are redacted
   * when they are whole.
   */
  async #redacted(update: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { sessionUpdate, toolCallId, status, ...texts } = update
    if (sessionUpdate === 'agent_message_chunk' || sessionUpdate === 'agent_thought_chunk') return update
    // Words of the protocol, which a secret may equal, decide what the texts mean. The id is redacted later.
    const words = { sessionUpdate, toolCallId, ...(status !== undefined && { status }) }
    try {
      return { ...(await redactFields(this.#context.redactor, texts)), ...words }
    } catch (error) {
      if (!(error instanceof RedactionError)) throw error
      return words
    }
  }

  /** Returns the text and the reasoning since the last tool call, and forgets them. */
  takeLastMessage(): { text: string; thought: string | null } {
    return { text: this.#text.take().trim(), thought: this.#reasoning.take().trim() || null }
  }

  /** Adds what a request for a permission states about its call, and returns the call; null: it has ended. */
  async requested(update: Record<string, unknown>): Promise<AgentToolCall | null> {
    await this.add({ ...update, sessionUpdate: 'tool_call_update', status: 'pending' })
    return typeof update.toolCallId === 'string' ? this.#updates.get(update.toolCallId) : null
  }

  /** A person must approve this call; later updates of it are ignored. */
  awaitApproval({ id }: AgentToolCall, digest: string): void {
    const call = this.#updates.take(id)
    if (call !== null) this.#waiting = { call, digest }
  }

  /** Records a call that may not run as failed; later updates of it are ignored. */
  async refuse({ id }: AgentToolCall, error: string): Promise<void> {
    const call = this.#updates.take(id)
    const status = 'error'
    if (call !== null) await this.#finished(call, { status, output: { ...call.output, status, error } })
  }

  /**
   * Records the calls that are open when a prompt has ended as interrupted; one that waits for approval is
   * the last.
   */
  async closeOpen(): Promise<void> {
    const status = 'interrupted'
    for (const call of this.#updates.takeOpen())
      await this.#finished(call, {
        status,
        output: { ...call.output, status, error: 'Interrupted before it ended.' },
      })
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting === null) return
    const { call, digest } = waiting
    const outcome = {
      status,
      // It has not run: what the agent calls its output is not shown as a part of the request.
      output: {
        ...shownRequest(call.request),
        status,
        error: 'It waits for the approval of a person.',
        approval: digest,
      },
    } as const
    await this.#finished(call, outcome, waitingSummary(call, digest))
  }

  async #record(event: AgentEvent): Promise<void> {
    const { live } = this.#context
    if (event.kind === 'tool_started') await this.#started(event.call)
    else if (event.kind === 'tool_finished') {
      if (!this.#started_ids.has(event.call.id)) this.#count()
      await this.#finished(event.call, outcomeOf(event.call, event.failed))
    } else if (event.kind === 'plan') await this.#planned(event.items)
    else {
      const whole = event.kind === 'text' ? this.#text : this.#reasoning
      whole.add(event.text)
      live.addText({ event: 'text', kind: event.kind, text: event.text })
    }
  }

  #count(): void {
    if (++this.#recorded > MAX_RECORDED)
      throw new AgentProtocolError(`It reported more than ${MAX_RECORDED} tool calls and plans in one turn.`)
  }

  async #planned(items: PlanItem[]): Promise<void> {
    const plan = JSON.stringify(items)
    if (plan === this.#plan || items.length === 0) return
    this.#count()
    this.#plan = plan
    await this.#context.writer.append({ entries: [planEntry(items, null)] })
  }

  async #started(call: AgentToolCall): Promise<void> {
    const { live, journal, onTool } = this.#context
    await live.responseEnded()
    live.toolStarted(call)
    if (this.#started_ids.has(call.id)) return
    this.#count()
    this.#started_ids.add(call.id)
    onTool()
    await journal.toolStarted(toolCall(call), call.kind ?? undefined)
  }

  async #finished(
    call: AgentToolCall,
    outcome: ToolOutcome,
    message = summaryOf(call, outcome),
  ): Promise<void> {
    const { live, journal, redactor, onSignals } = this.#context
    await live.toolEnded()
    const duration_ms = performance.now() - call.started_at
    const shown = await shownOutcome(outcome, redactor).catch(error => {
      if (!(error instanceof RedactionError)) throw error
      return {
        status: 'error' as const,
        output: { status: 'error', error: 'Its output is not shown.' },
        truncated: false,
        whole: null,
      }
    })
    const last = this.takeLastMessage()
    const [shown_call, content, text, thought] = await Promise.all([
      redactor.value(toolCall(call)),
      redactor.value(message.content),
      redactor.text(last.text),
      redactor.value(last.thought),
    ])
    const finished = {
      call: shown_call,
      message: { ...message, content } as ModelMessage,
      response: responseOf(text, thought),
      result: { ...shown, duration_ms },
    }
    onSignals(await journal.toolFinished(composed({ ...finished, ends_turn: null, next: null })))
    // OpenCode reports its plan as a tool call only.
    if (outcome.status === 'ok') await this.#planned(planItems(call.input.todos))
  }
}

const toolCall = ({ id, name, input, title, kind }: AgentToolCall): ToolCall => ({
  id,
  name,
  input: {
    ...(title !== '' && title !== name && { title }),
    ...(kind !== null && kind !== name && { kind }),
    ...input,
  },
})

function outcomeOf({ output }: AgentToolCall, failed: boolean): ToolOutcome {
  const status = failed ? 'error' : 'ok'
  const { metadata } = output
  // OpenCode has the exit code there.
  const exit = typeof metadata === 'object' && metadata !== null && 'exit' in metadata ? metadata.exit : null
  return { status, output: { ...output, status, ...(typeof exit === 'number' && { exit_code: exit }) } }
}

/** How a call is remembered when the conversation is repeated to a new process of the agent. */
function summaryOf({ name, title, input }: AgentToolCall, { status }: ToolOutcome): ModelMessage {
  const shown = title === '' || title === name ? JSON.stringify(input).slice(0, 500) : title
  return { role: 'assistant', content: `[${name}: ${shown} → ${status}]` }
}

/** How a call of a process that was lost is remembered. */
export const interruptedSummary = (
  { name, input }: ToolCall,
  { error }: { error: string },
): ModelMessage => ({
  role: 'assistant',
  content: `[${name}: ${JSON.stringify(input).slice(0, 500).toWellFormed()} → interrupted. ${error}]`,
})

/** Characters of the input of a call that waits for approval: it must be repeated without a change. */
const MAX_WAITING_INPUT = 20_000

function waitingSummary({ name, input }: AgentToolCall, digest: string): ModelMessage {
  const shown = JSON.stringify(input).slice(0, MAX_WAITING_INPUT).toWellFormed()
  return {
    role: 'assistant',
    content: `[${name}: ${shown} → not done, it waits for the approval of a person: ${digest}]`,
  }
}

const no_usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_usd: null, raw: null }

const responseOf = (text: string, reasoning: string | null): ModelResponse => ({
  text,
  reasoning,
  tool_calls: [],
  finish_reason: 'tool_calls',
  usage: no_usage,
  messages: [],
})
