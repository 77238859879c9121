import type { FakeReply, SeenRequest } from '../../test/model/fake-server.ts'

/**
 * The task of a peer: a marker that its prompt carries, so that each model request shows to which run it
 * belongs.
 */
export type Task = { id: number; steps: number; large: boolean }

const MARKER = /bench-run-(\d+)-of-(\d+)-(small|large)-steps/
/** 64 kB, printed by the shell itself: programs that create the text would be measured too. */
const PRINT =
  "printf 'line %s drwxr-xr-x 2 user user 4096 Nov 21 10:00 src/part-of-a-listing/with-a-file-of-some-name.ts\\n' {1..650}"

export function promptOf({ id, steps, large }: Task): string {
  return `Take small steps: bench-run-${id}-of-${steps}-${large ? 'large' : 'small'}-steps.`
}

type Message = { role: string; content?: unknown }
type Tool = { function?: { name?: string; parameters?: { required?: string[] } } }

/**
 * The task, the step (from 0) and the shell tool of a request of a chat completion; null: a request beside
 * the steps, such as one for a title.
 */
export function stepOf(
  body: Record<string, unknown>,
): { task: Task; step: number; tool: string; described: boolean } | null {
  const messages = (body.messages ?? []) as Message[]
  const tool = ((body.tools ?? []) as Tool[]).find(
    ({ function: of }) => of?.name === 'shell' || of?.name === 'bash',
  )?.function
  const asked = messages
    .filter(message => message.role === 'user')
    .map(message => JSON.stringify(message.content))
  const [, id, steps, size] = MARKER.exec(asked.join('\n')) ?? []
  if (tool?.name === undefined || id === undefined) return null
  return {
    task: { id: Number(id), steps: Number(steps), large: size === 'large' },
    step: messages.filter(message => message.role === 'tool').length,
    tool: tool.name,
    described: tool.parameters?.required?.includes('description') ?? false,
  }
}

/**
 * The model: commands until the steps of the task are done. Each differs, because agents stop a model that
 * repeats itself.
 */
export function respond({ body }: Pick<SeenRequest, 'body'>): FakeReply {
  const found = stepOf(body)
  if (!found) return { text: 'Small steps' }
  const { task, step, tool, described } = found
  if (step >= task.steps) return { text: 'Done.' }
  const command = task.large ? `${PRINT} # ${step}` : `true # ${step}`
  const description = described ? { description: 'Takes a step' } : {}
  return {
    tool_calls: [{ id: `call_${task.id}_${step}`, name: tool, arguments: { command, ...description } }],
    split: 1_000,
  }
}

/**
 * The steps of a run as its requests show them: one request more than steps, in their order. Throws if the
 * peer has not made all of them.
 */
export function requestsOf<T extends Pick<SeenRequest, 'body'>>(task: Task, requests: T[]): T[] {
  const own = requests
    .map(request => ({ request, found: stepOf(request.body) }))
    .filter(({ found }) => found?.task.id === task.id)
  const steps = own.map(({ found }) => found?.step)
  if (steps.length !== task.steps + 1 || steps.some((step, n) => step !== n))
    throw new Error(`run ${task.id} made the steps ${steps.join(', ')} instead of 0 to ${task.steps}`)
  return own.map(({ request }) => request)
}
