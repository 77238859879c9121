import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { isSignedOut } from '../../api/api-error.ts'
import { putRun } from '../../api/run-cache.ts'
import { type LogFilter, openTrace, type Trace } from '../../trace/live-trace.ts'
import type { LogPages } from '../../trace/log-pages.ts'

/**
 * Opens the trace of a run while the page shows it and puts the state of the run into the query cache. Null
 * until it is open.
 */
export function useTrace(run: AgentRun): Trace | null {
  const queries = useQueryClient()
  const router = useRouter()
  const [trace, setTrace] = useState<Trace | null>(null)
  // Only the first state of the run matters here: the stream continues from it.
  const [first] = useState(run)
  useEffect(() => {
    const opened = openTrace(first, latest => putRun(queries, latest))
    const unsubscribe = opened.subscribe(() => {
      if (opened.stream.name === 'ended' && isSignedOut(opened.stream.problem)) void router.invalidate()
    })
    setTrace(opened)
    return () => {
      unsubscribe()
      opened.close()
    }
  }, [first, queries, router])
  useSyncExternalStore(trace?.subscribe ?? nothing, () => trace?.version ?? 0)
  return trace
}

const nothing = () => () => {}

/** The entries to show: all, or those that match the filter. */
export function useEntries(trace: Trace, { message_type, failed }: LogFilter): LogPages {
  const [matching, setMatching] = useState<LogPages | null>(null)
  useEffect(() => {
    if (!message_type && !failed) return
    const filtered = trace.filtered({ message_type, failed })
    setMatching(filtered.pages)
    return () => {
      filtered.close()
      setMatching(null)
    }
  }, [trace, message_type, failed])
  return (message_type || failed ? matching : null) ?? trace.pages
}
