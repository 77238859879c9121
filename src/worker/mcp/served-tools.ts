import { randomUUID } from 'node:crypto'
import type { JournalRecord } from '../../agent/conversation.ts'
import type { LoopJournal, Signals } from '../../agent/journal.ts'
import { type ExternalTools, forModel, runTool, type ToolContext } from '../../agent/tool.ts'
import { createSemaphore, type Semaphore } from '../../core/concurrency/semaphore.ts'
import type { ToolServers } from '../../gateway/tool-request.ts'
import type { ServedResult, ServedToolCaller } from '../../mcp/serve-tools.ts'
import { serverOfTool } from '../../mcp/tool-names.ts'
import type { ModelMessage } from '../../model/port.ts'
import { type BackgroundRedactor, composed } from '../../redaction/port.ts'
import { shownInput } from '../../trace/agent-entries.ts'

type ServedToolsInput = {
  /** Opens the servers of the turn, once. */
  open(): Promise<ExternalTools>
  journal: LoopJournal
  redactor: BackgroundRedactor
  max_seconds: number
  /** Of the run. */
  signal: AbortSignal
  /** Counts a call that is about to be made, or returns why none is possible. */
  admit(): string | null
  onSignals(signals: Signals): void
}

/** Ids of calls begin so. */
const ID_PREFIX = 'mcp-'
/** What the names of tools have between the server and its tool. */
const SEPARATOR = '__'
/** Calls that are made at the same time: their results are in memory. */
const MAX_PARALLEL = 8
/** Characters of the input of a call that journal and trace keep, as JSON. */
const MAX_KEPT_CHARS = 128 * 1024
const NOT_CALLED = 'It was not called.'

/**
 * `names`: of the servers that offer tools. `interrupt`: ends the calls in progress, and resolves when their
 * outcomes are recorded.
 */
export type ServedTools = { names(): Promise<string[]>; respond: ToolServers; interrupt(): Promise<void> }

/**
 * Serves the tools of the MCP servers of a turn to its agent, a program in the sandbox: with the bounds, the
 * redaction, the journal and the entries of the built-in agent, and without the credentials of the servers.
 */
export function createServedTools(serving: ServedToolsInput): ServedTools {
  const calls = callsInProgress()
  let serversOnce: Promise<Servers> | null = null
  return {
    interrupt: () => calls.interrupt(),
    names: async () => serversOf(await serving.open()),
    async respond(server, request) {
      serversOnce ??= serve(serving, calls)
      return (await (await serversOnce).get(server)?.(request)) ?? null
    },
  }
}

/** Returns how many calls of served tools a turn has made, in this process or in an earlier one. */
export const countServedCalls = (records: readonly JournalRecord[], turn: number): number =>
  records.filter(
    record => record.kind === 'tool_started' && record.turn === turn && record.call.id.startsWith(ID_PREFIX),
  ).length

type Servers = ReadonlyMap<string, (request: Request) => Promise<Response>>

const serversOf = (tools: ExternalTools): string[] => [
  ...new Set([...tools.keys()].flatMap(name => serverOfTool(name) ?? [])),
]

async function serve(serving: ServedToolsInput, calls: CallsInProgress): Promise<Servers> {
  // Loaded with the first message: most runs have no MCP server.
  const [{ serveTools }, tools] = await Promise.all([import('../../mcp/serve-tools.ts'), serving.open()])
  const parallel = createSemaphore(MAX_PARALLEL)
  return new Map(
    serversOf(tools).map(server => {
      // What a server sends is bounded for each call, so there is one at a time.
      const turns = [createSemaphore(1), parallel]
      const prefix = server + SEPARATOR
      const own = [...tools.values()].filter(({ spec }) => spec.name.startsWith(prefix))
      const listed = own.map(({ spec: { name, description, input_schema } }) => ({
        name: name.slice(prefix.length),
        description,
        input_schema,
      }))
      const call: ServedToolCaller = (tool, input, gone) =>
        calls.add(async ended => {
          const signal = AbortSignal.any([serving.signal, gone, ended])
          const made = await within(turns, signal, () =>
            callTool({ ...serving, tools, signal }, { name: prefix + tool, input }),
          )
          return made ?? refused(NOT_CALLED)
        })
      return [server, serveTools(server, listed, call)]
    }),
  )
}

type CallsInProgress = ReturnType<typeof callsInProgress>

function callsInProgress() {
  const open = new Set<Promise<unknown>>()
  let control = new AbortController()
  return {
    add<T>(start: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const call = start(control.signal)
      open.add(call)
      return call.finally(() => open.delete(call))
    },
    async interrupt() {
      control.abort()
      control = new AbortController()
      await Promise.allSettled(open)
    },
  }
}

/** Works inside of all these semaphores. Null: `signal` was aborted before. */
async function within<T>(
  [first, ...rest]: Semaphore[],
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | null> {
  if (first === undefined) return work()
  const leave = await first.enter(signal)
  return leave === null ? null : within(rest, signal, work).finally(leave)
}

const refused = (text: string): ServedResult => ({ text, images: [], is_error: true })

/** Records a call, makes it once and records its outcome before the agent has it. */
async function callTool(
  serving: ServedToolsInput & { tools: ExternalTools },
  { name, input }: { name: string; input: Record<string, unknown> },
): Promise<ServedResult> {
  const { tools, journal, redactor, max_seconds, signal, admit, onSignals } = serving
  const refusal = tools.has(name) ? admit() : 'There is no such tool.'
  if (refusal !== null) return refused(refusal)
  const requested = { id: `${ID_PREFIX}${randomUUID()}`, name, input }
  const { call, cut } = kept(await redactor.value(requested))
  await journal.toolStarted(call)
  const context = { redactor, max_seconds, signal, call_id: call.id } as ToolContext
  const result = await runTool({}, requested, context, tools)
  // The program has the images; the journal of its run has none to show.
  const { images = [], ...recorded } = result
  const { status } = result
  const message: ModelMessage = {
    role: 'assistant',
    content: `[${name}: ${JSON.stringify(call.input).slice(0, 500).toWellFormed()} → ${status}]`,
  }
  const shown = { ...recorded, truncated: result.truncated || cut }
  const finished = { call, result: shown, message, response: null, ends_turn: null, next: null }
  onSignals(await journal.toolFinished(composed(finished)))
  return { text: textOf(forModel(result)), images, is_error: status !== 'ok' }
}

/**
 * Returns a call as journal and trace have it. The agent keeps what it has sent, so that nobody needs the
 * rest.
 */
function kept({ input, ...call }: { id: string; name: string; input: Record<string, unknown> }) {
  const { value, cut } = shownInput(input)
  const text = JSON.stringify(value)
  // Many parts that are short each.
  if (text.length > MAX_KEPT_CHARS)
    return {
      call: { ...call, input: { beginning: text.slice(0, MAX_KEPT_CHARS).toWellFormed() } },
      cut: true,
    }
  return { call: { ...call, input: value }, cut }
}

function textOf({ text, error, note }: Record<string, unknown>): string {
  return [error ?? text, note].filter(part => typeof part === 'string').join('\n\n')
}
