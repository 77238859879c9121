import type { ChildRun, RelatedRuns } from '../../agent/related-runs.ts'
import type { ToolInput } from '../../contract/runs/tools.ts'
import { pause } from '../../core/pause.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import type { Hub } from '../../live/hub.ts'
import { costOfChildRuns } from '../../store/runs/child-runs.ts'
import type { Control } from '../claim/control.ts'
import type { RunWriter } from '../claim/run-writer.ts'

/** In case a notification was lost. */
const POLL_INTERVAL_MS = 5_000

type Parent = { organization_id: number; id: number; epoch: number }

/** Starts and lists child runs by the verbs of the API. */
export type ChildRuns = {
  start(parent: Parent, call_id: string, input: ToolInput<'start_run'>): Promise<ChildRun>
  list(parent: Parent): Promise<ChildRun[]>
}

/** Returns what the children of a run have cost and what is reserved for active ones, in US dollars. */
export const costOfChildren = async ({ db, organization_id, run_id }: RunWriter): Promise<number> =>
  Number(await costOfChildRuns(db, organization_id, run_id))

/**
 * Returns the calls about children of a claimed run. `onCost` gets their cost after each use. A wait does not
 * count for the concurrency of the worker.
 */
export function relatedRuns(
  { children, hub }: { children: ChildRuns; hub: Hub },
  writer: RunWriter,
  control: Control,
  onCost: (usd: number) => void,
): RelatedRuns {
  const { organization_id, run_id, epoch } = writer
  const parent = { organization_id, id: run_id, epoch }
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work
    onCost(await costOfChildren(writer))
    return done
  }
  return {
    start: (call_id, input) => counted(children.start(parent, call_id, input)),
    async awaitRuns(awaited, seconds, signal) {
      const isAwaited = (run: ChildRun) =>
        (awaited === null || run.agent_run_id === awaited) && !isSettled(run)
      const until = performance.now() + seconds * 1_000
      let hint = new AbortController()
      const subscriptions = (await children.list(parent)).map(({ agent_run_id }) =>
        hub.onRun(organization_id, agent_run_id, () => hint.abort()),
      )
      try {
        for (;;) {
          // Before the query, so that no notification between it and the wait is missed.
          hint = new AbortController()
          const runs = await counted(children.list(parent))
          const left_ms = until - performance.now()
          if (!runs.some(isAwaited) || left_ms <= 0 || signal.aborted) return runs
          const over = AbortSignal.any([signal, hint.signal])
          await control.whileIdle(pause(Math.min(left_ms, POLL_INTERVAL_MS), over).catch(() => {}))
        }
      } finally {
        for (const unsubscribe of subscriptions) unsubscribe()
      }
    },
  }
}

/** Whether the run does not continue by itself: it has ended, or waits for a person. */
const isSettled = ({ status, waiting_on }: ChildRun) =>
  isTerminal(status) || status === 'paused' || waiting_on === 'user_input' || waiting_on === 'tool_approval'
