import type { FakeServer } from '../../test/model/fake-server.ts'
import { familyMs, processorMs } from '../processor.ts'
import { median, quantile } from '../rate.ts'
import type { RunningPeer, StartedRun } from './peer.ts'
import { promptOf, requestsOf, type Task } from './script.ts'

export const CONCURRENT = 10
const STEPS = 20
const RUNS = 12
const SECONDS = 20

/**
 * Milliseconds, unless the name has another unit. `start_ms`: what a peer with a process per run takes before
 * it can get its prompt.
 */
export type PeerTimes = {
  start_ms: number
  first_request_ms: number
  step_ms: number
  step_p95_ms: number
  large_step_ms: number
  runs_per_minute: number
  processor_seconds_per_run: number
  /** What of it does not grow with the steps. */
  fixed_processor_seconds: number
}

let next_id = 0

/** Everything that is compared, of a peer that is the only process that this one has started. */
export async function measurePeer(peer: RunningPeer, model: FakeServer): Promise<PeerTimes> {
  const play = async (steps: number, large = false) => {
    const task: Task = { id: next_id++, steps, large }
    const from = model.requests.length
    const run: StartedRun = await peer.run(promptOf(task))
    await run.ended
    const requests = requestsOf(task, model.requests.slice(from))
    // The first step waits for what is prepared beside the first request, such as a clone.
    const gaps = requests
      .slice(2)
      .map((request, n) => request.at - (requests[n + 1]?.responded_at ?? Number.NaN))
    return { start: run.start_ms, first: (requests[0]?.at ?? Number.NaN) - run.created_at, gaps }
  }
  const playAll = async (count: number, steps: number, large = false) => {
    const played: Awaited<ReturnType<typeof play>>[] = []
    for (let n = 0; n < count; n++) played.push(await play(steps, large))
    return played
  }
  await playAll(4, STEPS)
  const [runs, processor_ms] = await spending(() => playAll(RUNS, STEPS))
  const [, of_one_step] = await spending(() => playAll(RUNS, 1))
  const gaps = (await playAll(3, 100)).flatMap(run => run.gaps)
  const large = (await playAll(3, 15, true)).flatMap(run => run.gaps)
  return {
    start_ms: median(runs.map(run => run.start)),
    first_request_ms: median(runs.map(run => run.first)),
    step_ms: median(gaps),
    step_p95_ms: quantile(gaps, 0.95),
    large_step_ms: median(large),
    runs_per_minute: await rate(() => play(STEPS)),
    processor_seconds_per_run: processor_ms / RUNS / 1_000,
    fixed_processor_seconds: (of_one_step - (processor_ms - of_one_step) / (STEPS - 1)) / RUNS / 1_000,
  }
}

/** The result of `work`, and the time of all processes that this one has started, what has ended included. */
async function spending<T>(work: () => Promise<T>): Promise<[T, number]> {
  const spentMs = () => familyMs(process.pid) - processorMs(process.pid)
  const before = spentMs()
  const result = await work()
  return [result, spentMs() - before]
}

async function rate(play: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  let ended = 0
  const work = async () => {
    while (performance.now() < started + SECONDS * 1_000) {
      await play()
      ended += 1
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, work))
  return (ended * 60_000) / (performance.now() - started)
}
