import { createSemaphore, type Semaphore } from '../core/concurrency/semaphore.ts'
import { mayMention } from '../core/forges/forge-event.ts'
import { createThreads } from '../html/on-thread.ts'

/** GitHub accepts 65,536 in one text; the text of a request is cut there too. */
const MAX_CHARS = 70_000
/** Forges wait 10 s for the response to a delivery. */
const TIMEOUT_MS = 5_000

type Mention = { markdown: string; name: string }

const isVisible = createThreads<Mention, boolean>(new URL('./thread.ts', import.meta.url), {
  max_threads: 2,
  timeout_ms: TIMEOUT_MS,
})

/**
 * Of each sender one text at a time: strangers who write many slow ones delay only the connection that they
 * write to.
 */
const turns = new Map<number, { semaphore: Semaphore; texts: number }>()

/**
 * Returns whether a Markdown text mentions `name` where a forge shows that as a mention: outside quotations,
 * code, comments and links. A text whose parsing takes too long was not written for readers, and mentions
 * nobody. `connection_id`: of the forge that it is from.
 */
export async function visiblyMentions(
  connection_id: number,
  markdown: string,
  name: string,
): Promise<boolean> {
  const text = markdown.slice(0, MAX_CHARS)
  return (
    mayMention(text, name) &&
    (await inTurn(connection_id, () => isVisible({ markdown: text, name }))) === true
  )
}

async function inTurn<T>(connection_id: number, work: () => Promise<T>): Promise<T> {
  const turn = turns.get(connection_id) ?? { semaphore: createSemaphore(1), texts: 0 }
  turns.set(connection_id, turn)
  turn.texts++
  const leave = await turn.semaphore.enter()
  try {
    return await work()
  } finally {
    leave?.()
    if (--turn.texts === 0) turns.delete(connection_id)
  }
}
