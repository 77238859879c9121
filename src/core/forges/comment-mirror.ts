import { OUR_MARK } from './forge-event.ts'

/** The length limit of forges, minus our own markup. */
const MAX_CHARS = 60_000

/**
 * Returns the first line of a mirrored comment, by which it is recognized. It counts only at the beginning,
 * because comments of people may contain it elsewhere.
 */
export const mirrorMark = (comment_id: number): string => `${OUR_MARK}comment ${comment_id} -->`

type Comment = { id: number; author_name: string; body: string; path: string | null; line: number | null }

/**
 * Returns the text of a mirrored comment on the forge: its author here, the file and line, and the comment.
 */
export function mirrorBody({ id, author_name, body, path, line }: Comment, url: string): string {
  const location = path === null ? '' : ` about ${code(line === null ? path : `${path}:${line}`)}`
  const cut_body = body.length > MAX_CHARS ? `${body.slice(0, MAX_CHARS).toWellFormed()}…` : body
  return `${mirrorMark(id)}\n**${plain(author_name)}** commented${location} in [agentrun](${url}):\n\n${cut_body}`
}

/** Returns a name without markup and without mentions. */
const plain = (name: string) => name.replace(/[^\p{L}\p{N} .,'-]/gu, '').trim() || 'Somebody'
const code = (text: string) => `\`${text.replaceAll('`', "'").replace(/[\r\n]/g, ' ')}\``
