import type { FakeReply, FakeScript } from '../model/fake-server.ts'
import { shell } from '../runs/coding-app.ts'
import type { Random } from './random.ts'

/** The file in which every step leaves one line: at the end each line must be there once. */
export const EFFECTS = 'effects.txt'

/** What happened, in order: a command with its result (null: none yet), or the word that the files are not the ones they were. */
type Seen = { command: string; result: { status?: string; output?: string } | null } | 'set up anew'

/**
 * A model that takes the steps that its prompt names ("chaos 17: 6 steps"), one command each, and knows nothing but the conversation: of a
 * command whose outcome is unknown, and of files that were brought from elsewhere, it looks first what there is. Now and then the provider fails: too many requests, an error of
 * the server, silence, an answer that is cut off.
 */
export function carefulAgent(random: Random, trouble: number): { script: FakeScript; calls: Map<string, number> } {
  const calls = new Map<string, number>()
  const script: FakeScript = ({ body }) => {
    const messages = body.messages as Message[]
    const [, name = '', steps = '0'] = /chaos (\d+): (\d+) steps/.exec(JSON.stringify(messages)) ?? []
    calls.set(name, (calls.get(name) ?? 0) + 1)
    return random.chance(trouble) ? failure(random) : nextMove(seenCalls(messages), Number(steps), random)
  }
  return { script, calls }
}

type Message = {
  role: string
  content: unknown
  tool_call_id?: string
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}

function seenCalls(messages: Message[]): Seen[] {
  const results = new Map(messages.filter(m => m.role === 'tool').map(m => [m.tool_call_id, String(m.content)]))
  return messages.flatMap((message): Seen[] => {
    if (message.role === 'user' && JSON.stringify(message.content).includes('was set up anew')) return ['set up anew']
    return (message.tool_calls ?? []).map(call => ({
      command: (JSON.parse(call.function.arguments) as { command: string }).command,
      result: JSON.parse(results.get(call.id) ?? 'null') as { status?: string; output?: string } | null,
    }))
  })
}

function nextMove(seen: Seen[], steps: number, random: Random): FakeReply {
  let done = 0
  let certain = true
  for (const what of seen) {
    if (what === 'set up anew') certain = false
    else if (what.command.startsWith('grep')) {
      // A look that was interrupted itself says nothing.
      if (what.result?.status !== 'ok' && what.result?.status !== 'error') continue
      done = Number((what.result.output ?? '').trim()) || 0
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
    () => ({ status: 429, headers: { 'retry-after': '1' }, body: { error: { message: 'slow down', type: 'rate_limit_error' } } }),
    () => ({ status: 503, body: { error: { message: 'overloaded' } } }),
    () => ({ stall: 'before_body' }),
    () => ({ raw: ['data: {"id":"chatcmpl-1","object":"chat.completion.chunk"'], after: 'cut' }),
  ])()
}
