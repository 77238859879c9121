import type { ModelMessage } from '../../model/port.ts'
import { isPrompt } from '../../model/port.ts'
import { MODEL_CHARS } from '../tool.ts'
import { callsOf, clearResults, isClearable, resultsOf, shortenUnread, unreadFrom } from './compaction.ts'

/**
 * Shares of the limit: the newest results, which are never cleared; what is left when clearing is enough; the
 * steps that a summary leaves.
 */
const PROTECTED = 0.25
const ENOUGH = 0.6
const TAIL = 0.3
/**
 * The share of the limit to which results that the model has not read are shortened, when all of them do not
 * fit.
 */
const FULL = 0.9
const MIN_UNREAD_CHARS = 1_000
const SHORTEN_STEP = 0.85
/**
 * The share of the limit that a compaction must free: less is not worth a request whose prefix no cache has.
 */
const MIN_FREED = 0.1
/** What a summary is expected to take, and the share of the limit that it may. */
const SUMMARY_TOKENS = 4_000
export const SUMMARY_SHARE = 0.2

/**
 * What to clear, the characters to which each unread result is shortened, and from which call on to keep
 * everything if the rest is summarized. `replaces`: the messages that the summary replaces, with
 * cleared results.
 */
export type CompactionChoice = {
  clear_through: string | null
  shorten_to: number | null
  summarize: { keep_from: string | null; replaces: ModelMessage[] } | null
}

type Sizes = { limit_tokens: number; tokensOf(messages: ModelMessage[]): number; keep_tail: boolean }

/**
 * Chooses how to compact a conversation: clears old results if that is enough, otherwise a summary replaces
 * everything but the messages of people and the last steps. Results that the model has not read are only
 * shortened. Null: nothing would free enough.
 */
export function chooseCompaction(messages: ModelMessage[], sizes: Sizes): CompactionChoice | null {
  const { limit_tokens, tokensOf, keep_tail } = sizes
  const before = tokensOf(messages)
  const isWorth = ({ after }: { after: number }) => before - after >= MIN_FREED * limit_tokens
  const clear_through = lastToClear(messages, PROTECTED * limit_tokens, tokensOf)
  const cleared = clear_through === null ? messages : clearResults(messages, clear_through)
  const clear = { clear_through, ...shortened(cleared, tokensOf(cleared), sizes), summarize: null }
  // A summary would not make unread results smaller.
  const unread = keep_tail ? tokensOf(cleared.slice(unreadFrom(cleared))) - tokensOf([]) : 0
  const is_enough =
    tokensOf(cleared) - Math.max(0, unread - PROTECTED * limit_tokens) <= ENOUGH * limit_tokens
  if (is_enough && isWorth(clear)) return choiceOf(clear)
  const border = keep_tail ? tailStart(cleared, TAIL * limit_tokens, tokensOf) : cleared.length
  const replaces = cleared.slice(0, border)
  const kept = [...replaces.filter(isPrompt), ...cleared.slice(border)]
  const keep_from = cleared.slice(border).flatMap(callsOf)[0] ?? null
  const summarized = tokensOf(kept) + Math.min(SUMMARY_TOKENS, SUMMARY_SHARE * limit_tokens)
  const summarize = {
    clear_through,
    ...shortened(kept, summarized, sizes),
    summarize: { keep_from, replaces },
  }
  // It must free more than clearing does.
  if (tokensOf(cleared) - summarized >= MIN_FREED * limit_tokens && isWorth(summarize))
    return choiceOf(summarize)
  return isWorth(clear) ? choiceOf(clear) : null
}

const choiceOf = ({ clear_through, shorten_to, summarize }: CompactionChoice): CompactionChoice => ({
  clear_through,
  shorten_to,
  summarize,
})

/**
 * How much the unread results of a conversation of `tokens` tokens must be shortened, and its tokens after
 * that.
 */
function shortened(
  messages: ModelMessage[],
  tokens: number,
  { limit_tokens, tokensOf }: Sizes,
): { shorten_to: number | null; after: number } {
  const unread = messages.slice(unreadFrom(messages))
  const rest = tokens - tokensOf(unread)
  let shorten_to: number | null = null
  let after = tokens
  for (
    let chars = MODEL_CHARS;
    after > FULL * limit_tokens && chars >= MIN_UNREAD_CHARS;
    chars = Math.floor(SHORTEN_STEP * chars)
  ) {
    shorten_to = chars
    after = rest + tokensOf(shortenUnread(unread, chars))
  }
  return after < tokens ? { shorten_to, after } : { shorten_to: null, after }
}

/**
 * Returns the newest call whose result is cleared: results after it have at most `protected_tokens`.
 * The last result and those that the model has not read are never cleared.
 */
function lastToClear(
  messages: ModelMessage[],
  protected_tokens: number,
  tokensOf: Sizes['tokensOf'],
): string | null {
  const fixed = tokensOf([])
  const unread = new Set(messages.slice(unreadFrom(messages)))
  let newer = 0
  for (const message of messages.toReversed()) {
    for (const result of resultsOf(message).toReversed()) {
      const tokens = tokensOf([{ role: 'tool', content: [result] }]) - fixed
      const is_old = newer > 0 && newer + tokens > protected_tokens && !unread.has(message)
      if (is_old && isClearable(result)) return result.toolCallId
      newer += tokens
    }
  }
  return null
}

/**
 * Returns the index of the response with which the last steps begin: the last one with calls, and earlier
 * ones up to `tail_tokens`.
 */
function tailStart(messages: ModelMessage[], tail_tokens: number, tokensOf: Sizes['tokensOf']): number {
  const fixed = tokensOf([])
  let border = messages.length
  let tokens = 0
  for (let i = messages.length - 1; i >= 0; i--) {
    tokens += tokensOf(messages.slice(i, i + 1)) - fixed
    if (border < messages.length && tokens > tail_tokens) break
    if (messages[i]?.role === 'assistant' && callsOf(messages[i] as ModelMessage).length > 0) border = i
  }
  return border
}
