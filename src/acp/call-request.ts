import { truncateStrings } from '../core/text/truncate.ts'
import type { Message } from './messages.ts'

/** What an agent has stated about a call, as it was sent: what a person must see to approve it. */
export type CallRequest = Record<string, unknown>

const FIELDS = ['title', 'kind', 'rawInput', 'content', 'locations']
/**
 * Characters as JSON that an entry shows of a request, also when the names of secrets in it are longer than
 * their values.
 */
const MAX_SHOWN = 64 * 1024
export const MAX_TITLE = 500
/** Is kept instead of a value that no entry could show. */
const TOO_LONG = Symbol('too long')

/** Adds what an update states. An empty input states nothing. */
export function mergedRequest(before: CallRequest, update: Message): CallRequest {
  const stated = FIELDS.map(
    name => [name, name === 'content' ? withoutTerminals(update[name]) : update[name]] as const,
  ).filter(([, value]) => value != null && !isEmpty(value))
  return {
    ...before,
    ...Object.fromEntries(stated.map(([name, value]) => [name, isShort(value) ? value : TOO_LONG])),
  }
}

/** Whether an entry shows the whole request. */
export function isShownWhole(request: CallRequest): boolean {
  const { title = '', kind = '' } = request
  if (
    Object.values(request).includes(TOO_LONG) ||
    String(title).length > MAX_TITLE ||
    String(kind).length > MAX_TITLE
  )
    return false
  // An entry has it as a part of its output.
  return isShort({ output: { request } })
}

/** Returns what the entry of a call that waits for approval shows in addition to its input. */
export function shownRequest({ rawInput, content, ...rest }: CallRequest): Record<string, unknown> {
  const changed = changedBy(content)
  const others = Array.isArray(content) ? content.filter(part => !isPlainDiff(part)) : content
  const has_others = Array.isArray(others) ? others.length > 0 : others !== undefined
  const input = rawInput === undefined || isObject(rawInput) ? {} : { input: rawInput }
  return {
    request: { ...rest, ...input, ...(has_others && { content: others }) },
    ...(changed.length > 0 && { changed }),
  }
}

/** Returns the texts of changed files in the content of a call. */
export function changedBy(content: unknown): Record<string, unknown>[] {
  const parts = Array.isArray(content) ? content.filter(isObject) : []
  return parts
    .filter(({ type }) => type === 'diff')
    .map(({ path, oldText, newText }) => ({
      path,
      old: typeof oldText === 'string' ? oldText : '',
      new: typeof newText === 'string' ? newText : '',
    }))
}

/** The same JSON whatever the order of its keys. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )

/** Whether `changed` shows all of it. */
const isPlainDiff = (part: unknown): boolean =>
  isObject(part) &&
  part.type === 'diff' &&
  typeof part.newText === 'string' &&
  (part.oldText == null || typeof part.oldText === 'string') &&
  Object.keys(part).every(key => ['type', 'path', 'oldText', 'newText'].includes(key))

/**
 * A terminal is named by an id, which is another one in each process of the agent, and is not part of the
 * call.
 */
function withoutTerminals(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  const parts = content.filter(
    part => !(isObject(part) && Object.keys(part).sort().join() === 'terminalId,type'),
  )
  return parts.length === 0 ? undefined : parts
}

/** Its depth and the number of its parts are checked first. */
const isShort = (value: unknown): boolean =>
  !truncateStrings(value, MAX_SHOWN).cut && JSON.stringify(value).length <= MAX_SHOWN
const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
