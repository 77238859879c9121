import { setTimeout as delay } from 'node:timers/promises'
import type { ChildRun, RelatedRuns } from '../../agent/related-runs.ts'
import type { ToolInput } from '../../contract/runs/tools.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import { costOfChildRuns } from '../../store/runs/child-runs.ts'
import type { Control } from '../claim/control.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'

/** In case a hint was lost. */
const LOOK_MS = 5_000

type Parent = { organization_id: number; id: number; epoch: number }

/** Starts and lists child runs, as the API does: behind it are its verbs. */
export type ChildRuns = {
  start(parent: Parent, call_id: string, input: ToolInput<'start_run'>): Promise<ChildRun>
  list(parent: Parent): Promise<ChildRun[]>
}

/** US dollars that the children of a run have cost, and that are set aside for those at work. */
export const costOfChildren = async ({ db, organization_id, run_id }: RunWriter): Promise<number> =>
  Number(await costOfChildRuns(db, organization_id, run_id))

/** The children of a claimed run. `cost`: told what they come to whenever somebody has asked about them. A wait holds no place of the worker. */
export function relatedRuns(
  { children, hub }: Pick<WorkerDeps, 'children' | 'hub'>,
  writer: RunWriter,
  control: Control,
  cost: (usd: number) => void,
): RelatedRuns {
  const { organization_id, run_id, epoch } = writer
  const parent = { organization_id, id: run_id, epoch }
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work
    cost(await costOfChildren(writer))
    return done
  }
  return {
    start: (call_id, input) => counted(children.start(parent, call_id, input)),
    async look(awaited, seconds, signal) {
      const isAwaited = (run: ChildRun) => (awaited === null || run.agent_run_id === awaited) && !isSettled(run)
      const until = performance.now() + seconds * 1_000
      let hint = new AbortController()
      const leave = (await children.list(parent)).map(({ agent_run_id }) => hub.onRun(organization_id, agent_run_id, () => hint.abort()))
      try {
        for (;;) {
          // Before the look, so that nothing happens unheard between it and the wait.
          hint = new AbortController()
          const runs = await counted(children.list(parent))
          const left_ms = until - performance.now()
          if (!runs.some(isAwaited) || left_ms <= 0 || signal.aborted) return runs
          const over = AbortSignal.any([signal, hint.signal])
          await control.whileIdle(delay(Math.min(left_ms, LOOK_MS), undefined, { signal: over }).catch(() => {}))
        }
      } finally {
        for (const end of leave) end()
      }
    },
  }
}

/** It gets on no more by itself: it has ended, or waits for somebody. */
const isSettled = ({ status, waiting_on }: ChildRun) =>
  isTerminal(status) || status === 'paused' || waiting_on === 'user_input' || waiting_on === 'tool_approval'
