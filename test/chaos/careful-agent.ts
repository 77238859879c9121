import type { FakeReply, FakeResponse, FakeScript } from '../model/fake-server.ts'
import { shell } from '../runs/coding-app.ts'
import type { Random } from './random.ts'

/** The file in which every step leaves one line: at the end each line must be there once. */
export const EFFECTS = 'effects.txt'

/**
 * What happened, in order: a command with its result (null: no result yet), or the word that the files are
 * not the ones they were.
 */
type SeenCommand = { command: string; result: Result | null } | 'recreated'
/** `unknown`: the result does not report how the command ended. */
type Result = { status: 'ok' | 'error' | 'unknown'; output: string }

/**
 * A model that takes the steps that its prompt names ("chaos 17: 6 steps"), one command each, and knows
 * nothing but the conversation: of a command whose outcome is unknown, and of files that were restored on
 * another machine, it checks the state first. Now and then the provider fails: too many requests, an error of
 * the server, silence, a response that is cut off.
 */
export function carefulAgent(
  random: Random,
  trouble: number,
): { script: FakeScript; served: Map<string, ServedRequests> } {
  const served = new Map<string, ServedRequests>()
  const script: FakeScript = ({ body }) => {
    const messages = messagesOf(body)
    const [, name = '', steps = '0'] = /chaos (\d+): (\d+) steps/.exec(JSON.stringify(messages)) ?? []
    const so_far = served.get(name) ?? { calls: 0, responses: 0 }
    const fails = random.chance(trouble)
    served.set(name, { calls: so_far.calls + 1, responses: so_far.responses + (fails ? 0 : 1) })
    return fails
      ? failure(random)
      : { ...nextMove(seenCalls(messages), Number(steps), random), usage: RESPONSE }
  }
  return { script, served }
}

/** The tokens that the provider reports for each of its responses. */
export const RESPONSE = { input: 100, output: 20 }

/** The requests and billed responses of the provider for a run. */
export type ServedRequests = { calls: number; responses: number }

/** A conversation in either of the provider's formats, as chat messages. */
function messagesOf(body: Record<string, unknown>): Message[] {
  if (Array.isArray(body.messages)) return body.messages as Message[]
  type Item = {
    type?: string
    role?: string
    content?: unknown
    call_id?: string
    name?: string
    arguments?: string
    output?: unknown
  }
  return (body.input as Item[]).map(
    ({ type, role = '', content, call_id = '', name = '', arguments: given = '', output }) => {
      if (type === 'function_call')
        return {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: call_id, function: { name, arguments: given } }],
        }
      return type === 'function_call_output'
        ? { role: 'tool', content: output, tool_call_id: call_id }
        : { role, content }
    },
  )
}

type Message = {
  role: string
  content: unknown
  tool_call_id?: string
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}

function seenCalls(messages: Message[]): SeenCommand[] {
  const results = new Map(
    messages.filter(m => m.role === 'tool').map(m => [m.tool_call_id, String(m.content)]),
  )
  return messages.flatMap((message): SeenCommand[] => {
    if (message.role === 'user' && JSON.stringify(message.content).includes('was recreated'))
      return ['recreated']
    return (message.tool_calls ?? []).map(call => ({
      command: (JSON.parse(call.function.arguments) as { command: string }).command,
      result: resultOf(results.get(call.id)),
    }))
  })
}

/** Reads the plain text of a result: only these notes leave no doubt about how the command ended. */
function resultOf(text: string | undefined): Result | null {
  if (text === undefined) return null
  const notes = [...text.matchAll(/^\[(.*)\]$/gm)].map(([, note = '']) => note)
  const exit_code = notes.map(note => /^Exit code (\d+)\.$/.exec(note)?.[1]).find(code => code !== undefined)
  const is_clear = notes.every(note => /^(No output\.|Exit code \d+\.|Installed programs,.*)$/.test(note))
  const status =
    is_clear && !text.startsWith('Error:') ? (exit_code === undefined ? 'ok' : 'error') : 'unknown'
  return { status, output: text.split('\n')[0] ?? '' }
}

function nextMove(seen: SeenCommand[], steps: number, random: Random): FakeResponse {
  let done = 0
  let certain = true
  for (const what of seen) {
    if (what === 'recreated') certain = false
    else if (what.command.startsWith('grep')) {
      // An interrupted check reports nothing.
      if (what.result === null || what.result.status === 'unknown') continue
      done = Number(what.result.output.trim()) || 0
      certain = true
    } else if (what.result?.status === 'ok') done = Number(/step (\d+)\b/.exec(what.command)?.[1] ?? 0)
    else certain = false
  }
  if (!certain) return { tool_calls: [shell(`grep -c -x "step [0-9]*" ${EFFECTS} # look ${seen.length}`)] }
  if (done >= steps) return { text: `Took ${steps} steps.` }
  const wait = random.chance(0.5) ? `; sleep ${random.between(0.2, 2).toFixed(2)}` : ''
  return { tool_calls: [shell(`echo "step ${done + 1}" >> ${EFFECTS}${wait} # call ${seen.length}`)] }
}

function failure(random: Random): FakeReply {
  return random.of<() => FakeReply>([
    () => ({
      status: 429,
      headers: { 'retry-after': '1' },
      body: { error: { message: 'slow down', type: 'rate_limit_error' } },
    }),
    () => ({ status: 503, body: { error: { message: 'overloaded' } } }),
    () => ({ stall: 'before_body' }),
    () => ({ raw: ['data: {"id":"chatcmpl-1","object":"chat.completion.chunk"'], after: 'cut' }),
  ])()
}
