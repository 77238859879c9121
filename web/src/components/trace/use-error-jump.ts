import { type RefObject, useEffect, useRef, useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import type { FeedHandle } from './use-feed-handle.ts'

type Direction = 'next' | 'previous'

/** Enough to read a sentence while one looks elsewhere. */
const NOTICE_MS = 10_000

/** Frames until a jump is visible, also on a slow machine. */
const MAX_FRAMES = 60

/**
 * Moves to the next or previous entry of the whole trace that reports a failure: an error, a failed command
 * or check. After the last one follows the first. `notice`: for ten seconds, or until the next jump or
 * another search `q`, that it began again, or that there is none.
 */
export function useErrorJump(
  run: AgentRun,
  feed: RefObject<FeedHandle | null>,
  q: string | undefined,
  go: (seq: number) => void,
) {
  const [shown, setShown] = useState<{ text: string; q: string | undefined } | null>(null)
  const setNotice = (text: string | null) => setShown(text === null ? null : { text, q })
  const notice = shown !== null && shown.q === q ? shown.text : null

  const failure = async (direction: Direction, from: number | undefined) => {
    const query = direction === 'next' ? { after_seq: from } : { before_seq: from, reverse: true }
    const { logs } = await call('getAgentRunLogs', {
      params: { agent_run_id: run.id },
      query: { ...query, failed: true, limit: 1 },
    })
    return logs[0]?.seq
  }
  const toError = async (direction: Direction) => {
    const found = await failure(direction, feed.current?.seq_from(direction))
    const again = found ?? (await failure(direction, undefined))
    const end =
      direction === 'next'
        ? 'No failure after this entry: this is the first one'
        : 'No failure before this entry: this is the last one'
    setNotice(again === undefined ? 'The trace has no failure' : found === undefined ? end : null)
    if (again === undefined) return
    go(again)
    await untilShown(feed, again)
  }
  useEffect(() => {
    if (notice === null) return
    const timer = setTimeout(() => setShown(null), NOTICE_MS)
    return () => clearTimeout(timer)
  }, [notice])
  // One after the other: a key that is pressed twice moves twice, and the second time from where the first
  // one led.
  const jumps = useRef(Promise.resolve())
  return {
    notice,
    toError(direction: Direction) {
      const report = (error: unknown) =>
        setNotice(visible(error instanceof Error ? error.message : String(error)))
      jumps.current = jumps.current.then(() => toError(direction)).catch(report)
    },
  }
}

/** Resolves when the feed has selected an entry, or after some frames in which it has not. */
async function untilShown(feed: RefObject<FeedHandle | null>, seq: number): Promise<void> {
  for (let frame = 0; frame < MAX_FRAMES && feed.current?.current_seq() !== seq; frame++)
    await new Promise(resolve => requestAnimationFrame(resolve))
}
