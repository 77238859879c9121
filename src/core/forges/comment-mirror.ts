import { OUR_MARK } from './forge-event.ts'

/** What a forge takes, less what is ours of it. */
const MOST_CHARS = 60_000

/** A comment of ours begins with it there, and is found again by that: what people say may hold it anywhere else. */
export const mirrorMark = (comment_id: number): string => `${OUR_MARK}comment ${comment_id} -->`

type Comment = { id: number; author_name: string; body: string; path: string | null; line: number | null }

/** What people read on the forge: who says it here, about which place, and what. */
export function mirrorBody({ id, author_name, body, path, line }: Comment, url: string): string {
  const place = path === null ? '' : ` about ${code(line === null ? path : `${path}:${line}`)}`
  const said = body.length > MOST_CHARS ? `${body.slice(0, MOST_CHARS).toWellFormed()}…` : body
  return `${mirrorMark(id)}\n**${plain(author_name)}** said${place} in [agentrun](${url}):\n\n${said}`
}

/** A name that is nothing but a name: no markup, and nobody is called by it. */
const plain = (name: string) => name.replace(/[^\p{L}\p{N} .,'-]/gu, '').trim() || 'Somebody'
const code = (text: string) => `\`${text.replaceAll('`', "'").replace(/[\r\n]/g, ' ')}\``
