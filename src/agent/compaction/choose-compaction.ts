import type { ModelMessage } from '../../model/port.ts'
import { isPrompt } from '../../model/port.ts'
import { callsOf, clearResults, isClearable, resultsOf } from './compaction.ts'

/** Shares of the limit: the newest results, which are never cleared; what is left when clearing is enough; the steps that a summary leaves. */
const PROTECTED = 0.25
const ENOUGH = 0.6
const TAIL = 0.3
/** The share of the limit that a compaction must free: less is not worth a request whose prefix no cache has. */
const MIN_FREED = 0.1
/** What a summary is expected to take, and the share of the limit that it may. */
const SUMMARY_TOKENS = 4_000
export const SUMMARY_SHARE = 0.2

/** What to clear, and from which call on to keep everything if the rest is to be summarized. `cleared`: the conversation with cleared results. */
export type CompactionChoice = {
  clear_through: string | null
  cleared: ModelMessage[]
  summarize: { keep_from: string | null } | null
}

type Sizes = { limit_tokens: number; tokensOf(messages: ModelMessage[]): number; keep_tail: boolean }

/**
 * Chooses how to compact a conversation: clears old results if that is enough, otherwise a summary replaces everything but the messages of
 * people and the last steps. Null: neither would free enough.
 */
export function chooseCompaction(messages: ModelMessage[], { limit_tokens, tokensOf, keep_tail }: Sizes): CompactionChoice | null {
  const before = tokensOf(messages)
  const clear_through = lastToClear(messages, PROTECTED * limit_tokens, tokensOf)
  const cleared = clear_through === null ? messages : clearResults(messages, clear_through)
  const after_clearing = tokensOf(cleared)
  const clear = { clear_through, cleared, summarize: null }
  const isWorth = (after: number) => before - after >= MIN_FREED * limit_tokens
  if (after_clearing <= ENOUGH * limit_tokens && isWorth(after_clearing)) return clear
  const border = keep_tail ? tailStart(cleared, TAIL * limit_tokens, tokensOf) : cleared.length
  const summary_tokens = Math.min(SUMMARY_TOKENS, SUMMARY_SHARE * limit_tokens)
  const kept = [...cleared.slice(0, border).filter(isPrompt), ...cleared.slice(border)]
  const keep_from = cleared.slice(border).flatMap(callsOf)[0] ?? null
  if (isWorth(tokensOf(kept) + summary_tokens)) return { clear_through, cleared, summarize: { keep_from } }
  return isWorth(after_clearing) ? clear : null
}

/** Returns the newest call whose result is to be cleared: results after it have at most `protected_tokens`, and the last result is never cleared. */
function lastToClear(messages: ModelMessage[], protected_tokens: number, tokensOf: Sizes['tokensOf']): string | null {
  const fixed = tokensOf([])
  let newer = 0
  for (const message of messages.toReversed()) {
    for (const result of resultsOf(message).toReversed()) {
      const tokens = tokensOf([{ role: 'tool', content: [result] }]) - fixed
      if (newer > 0 && newer + tokens > protected_tokens && isClearable(result)) return result.toolCallId
      newer += tokens
    }
  }
  return null
}

/** Returns the index of the answer with which the last steps begin: the last one with calls, and earlier ones up to `tail_tokens`. */
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
