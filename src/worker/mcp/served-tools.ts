import { randomUUID } from 'node:crypto'
import type { LoopJournal, Signals } from '../../agent/journal.ts'
import { type ExternalTools, forModel, runTool, type ToolContext } from '../../agent/tool.ts'
import type { ToolServers } from '../../gateway/tool-request.ts'
import type { CallServed, ServedResult } from '../../mcp/serve-tools.ts'
import type { ModelMessage } from '../../model/port.ts'
import { type BackgroundRedactor, composed } from '../../redaction/port.ts'

type Serving = {
  /** Opens the servers of the turn, once. */
  open(): Promise<ExternalTools>
  journal: LoopJournal
  redactor: BackgroundRedactor
  max_seconds: number
  /** Of the run. */
  signal: AbortSignal
  /** Why no call is possible now; null: one is. */
  refusal(): string | null
  onSignals(signals: Signals): void
}

/** What the names of tools have between the server and its tool. */
const SEPARATOR = '__'

/** `names`: of the servers that offer tools. */
export type ServedTools = { names(): Promise<string[]>; respond: ToolServers }

/**
 * Serves the tools of the MCP servers of a turn to its agent, a program in the sandbox: with the bounds, the redaction, the journal and the entries of
 * the built-in agent, and without the credentials of the servers.
 */
export function createServedTools(serving: Serving): ServedTools {
  let serversOnce: Promise<Servers> | null = null
  return {
    names: async () => serversOf(await serving.open()),
    async respond(server, request) {
      serversOnce ??= serve(serving)
      return (await (await serversOnce).get(server)?.(request)) ?? null
    },
  }
}

type Servers = ReadonlyMap<string, (request: Request) => Promise<Response>>

const serversOf = (tools: ExternalTools): string[] => [...new Set([...tools.keys()].map(name => name.split(SEPARATOR)[0] ?? ''))]

async function serve(serving: Serving): Promise<Servers> {
  // Loaded with the first message: most runs have no MCP server.
  const [{ serveTools }, tools] = await Promise.all([import('../../mcp/serve-tools.ts'), serving.open()])
  return new Map(
    serversOf(tools).map(server => {
      const prefix = server + SEPARATOR
      const own = [...tools.values()].filter(({ spec }) => spec.name.startsWith(prefix))
      const listed = own.map(({ spec: { name, description, input_schema } }) => ({
        ...{ name: name.slice(prefix.length), description, input_schema },
      }))
      const call: CallServed = (tool, input, signal) => callTool({ ...serving, tools }, { name: prefix + tool, input }, signal)
      return [server, serveTools(server, listed, call)]
    }),
  )
}

/** Records a call, makes it once and records its outcome before the agent has it. */
async function callTool(
  serving: Serving & { tools: ExternalTools },
  { name, input }: { name: string; input: Record<string, unknown> },
  gone: AbortSignal,
): Promise<ServedResult> {
  const { tools, journal, redactor, max_seconds, signal, refusal, onSignals } = serving
  const refused = tools.has(name) ? refusal() : 'There is no such tool.'
  if (refused !== null) return { text: refused, images: [], is_error: true }
  const requested = { id: `mcp-${randomUUID()}`, name, input }
  const call = await redactor.value(requested)
  await journal.toolStarted(call)
  const context = { redactor, max_seconds, signal: AbortSignal.any([signal, gone]), call_id: call.id } as ToolContext
  const result = await runTool({}, requested, context, tools)
  const { status, images = [] } = result
  const message: ModelMessage = {
    role: 'assistant',
    content: `[${name}: ${JSON.stringify(input).slice(0, 500).toWellFormed()} → ${status}]`,
  }
  const finished = { call, result, message: await redactor.value(message), response: null, ends_turn: null, next: null }
  onSignals(await journal.toolFinished(composed(finished)))
  return { text: textOf(forModel(result)), images, is_error: status !== 'ok' }
}

function textOf({ text, error, note }: Record<string, unknown>): string {
  return [error ?? text, note].filter(part => typeof part === 'string').join('\n\n')
}
