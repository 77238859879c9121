import { type RefObject, useEffect, useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import type { FeedHandle } from './use-feed-handle.ts'

/** Moves to the next or previous error of the whole trace. `notice`: for three seconds, that there is none. */
export function useErrorJump(run: AgentRun, feed: RefObject<FeedHandle | null>, go: (seq: number) => void) {
  const [notice, setNotice] = useState<string | null>(null)

  const toError = async (direction: 'next' | 'previous') => {
    const from = feed.current?.current_seq() ?? (direction === 'next' ? 0 : run.total_logs + 1)
    const query = direction === 'next' ? { after_seq: from } : { before_seq: from, reverse: true }
    const { logs } = await call('getAgentRunLogs', {
      params: { agent_run_id: run.id },
      query: { ...query, message_type: 'ERROR', limit: 1 },
    })
    const found = logs[0]
    setNotice(found ? null : direction === 'next' ? 'No error after this entry' : 'No error before this entry')
    if (found) go(found.seq)
  }
  useEffect(() => {
    if (notice === null) return
    const timer = setTimeout(() => setNotice(null), 3000)
    return () => clearTimeout(timer)
  }, [notice])
  return { notice, toError: (direction: 'next' | 'previous') => void toError(direction) }
}
