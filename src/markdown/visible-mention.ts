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
 * Returns whether a Markdown text mentions `name` where a forge shows that as a mention: outside quotations,
 * code, comments and links. A text whose parsing takes too long was not written for readers, and mentions
 * nobody. `connection_id`: of the forge that it is from; strangers who write many slow ones delay only the
 * connection that they write to.
 */
export async function visiblyMentions(
  connection_id: number,
  markdown: string,
  name: string,
): Promise<boolean> {
  const text = markdown.slice(0, MAX_CHARS)
  if (!mayMention(text, name)) return false
  const end = await isVisible({ markdown: text, name }, connection_id)
  return end.ok && end.value
}
