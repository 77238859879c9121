import { createHash } from 'node:crypto'
import { type AgentSession, openAgentSession, type PromptPart } from '../../../acp/agent-session.ts'
import type { Message } from '../../../acp/messages.ts'
import type { PermissionDecision } from '../../../acp/permission.ts'
import type { Conversation, ProgramSession } from '../../../agent/conversation.ts'
import type { ModelMessage } from '../../../model/port.ts'
import { errorEntry } from '../../../trace/entry.ts'
import { record } from '../journal-records.ts'
import type { ProgramTurn } from './program-turn.ts'
import { continuedPrompt, firstPrompt, nextPrompt } from './prompt-parts.ts'

/**
 * The conversation so far, the messages of it that no prompt contained, and the session that knows the rest.
 */
export type Next = { messages: ModelMessage[]; unsent: ModelMessage[]; earlier: Conversation['session'] }

/**
 * `approved`: the digest of the call that a person has approved. `opened_here`: an earlier session of this
 * turn had the same sandbox.
 */
type OpenSessionInput = {
  turn: ProgramTurn
  instructions: string
  approved: string | null
  opened_here: boolean
  /** Opens the MCP servers of the turn, and returns the names of those that offer tools. */
  openServers(): Promise<string[]>
  on_update(update: Message): Promise<void>
  on_permission(call: Message): Promise<PermissionDecision>
}

export type Prompt = { session: AgentSession; parts: PromptPart[]; continued: boolean }

/** The id is recorded and sent back: it is text of the agent. */
const SESSION_ID = /^[\w.:-]{1,200}$/

/** Returns the next prompt of a session that is open. */
export async function promptOfSession(
  opening: OpenSessionInput,
  session: AgentSession,
  next: Next,
): Promise<Prompt> {
  await recordPrompt(opening, session, next)
  return { session, parts: nextPrompt(next.unsent, session.images), continued: false }
}

/**
 * Starts a process of the agent with its first prompt. Where the files of an earlier session are there and
 * the agent can continue it, the prompt is what that session does not know; otherwise the whole conversation
 * as text.
 */
export async function openSession(opening: OpenSessionInput, next: Next): Promise<Prompt> {
  const { turn, instructions, approved, on_update, on_permission } = opening
  const { sandbox, keeps_home } = await turn.openFiles()
  const has_session = opening.opened_here || keeps_home
  const earlier = has_session && isSameAgent(next.earlier, turn) ? next.earlier : null
  const { command, tool_address } = turn.program
  const servers = (await opening.openServers()).map(name => ({ name, url: tool_address(name) }))
  const { signal } = turn.control
  const redact = (text: string) => turn.secrets.redactor.text(text)
  const program = { sandbox, command, servers, signal, on_update, on_permission, redact }
  const session = await openAgentSession(program, earlier?.id ?? null)
  if (servers.length > 0 && !session.accepts_servers) await reportUnusedServers(turn)
  if (session.problem !== null) await reportLostSession(turn, session.problem)
  await recordPrompt(opening, session, next)
  const { messages } = next
  if (earlier === null || !session.continued)
    return {
      session,
      parts: firstPrompt({ instructions, messages, approved }, session.images),
      continued: false,
    }
  const changed = earlier.instructions === digestOf(instructions) ? null : instructions
  const parts = continuedPrompt(
    { instructions: changed, messages, known: earlier.known, approved },
    session.images,
  )
  return { session, parts, continued: true }
}

async function reportUnusedServers({ writer }: ProgramTurn): Promise<void> {
  const message = 'The agent has no tools of MCP servers, because it does not accept servers by HTTP.'
  await writer.append({
    entries: [errorEntry({ code: 'mcp_server_failed', message, retryable: false, phase: 'agent' })],
  })
}

/** Shows in the trace that the conversation is repeated as text. `problem` is text of the agent. */
export async function reportLostSession({ writer, secrets }: ProgramTurn, problem: string): Promise<void> {
  const why = await secrets.redactor.text(problem)
  const message = `The session of the agent could not be continued, so it gets the conversation as text. ${why}`
  await writer.append({
    entries: [errorEntry({ code: 'agent_session_lost', message, retryable: true, phase: 'agent' })],
  })
}

/** No later process continues the session of the last prompt. */
export async function forgetSession({ writer }: ProgramTurn): Promise<void> {
  await writer.append({ records: [record('prompt_started', null, { session: null })] })
}

/** Before the prompt is sent: what the journal has by then is known to the session. */
async function recordPrompt(
  { turn, instructions }: OpenSessionInput,
  { id, resumable }: AgentSession,
  { earlier }: Next,
): Promise<void> {
  const { writer, run, secrets, program } = turn
  const is_usable =
    program.continues && resumable && SESSION_ID.test(id) && (await secrets.redactor.text(id)) === id
  if (!is_usable && earlier === null) return
  const { agent_type, model } = run
  const session: ProgramSession | null = is_usable
    ? { id, agent_type, model, instructions: digestOf(instructions) }
    : null
  await writer.append({ records: [record('prompt_started', null, { session })] })
}

/**
 * An agent may call the model for which its session was opened, and the gateway has that of the run alone.
 */
const isSameAgent = (earlier: Next['earlier'], { run }: ProgramTurn): boolean =>
  earlier !== null && earlier.agent_type === run.agent_type && earlier.model === run.model

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
