import type { RunStatus } from '../../src/contract/runs.ts'
import { mayMove } from '../../src/core/run-status.ts'
import type { Cluster } from '../runs/cluster.ts'
import { gitIn } from '../runs/coding-app.ts'
import { sandboxProcesses } from '../runs/sandbox-processes.ts'
import { EFFECTS } from './careful-agent.ts'

/** What clients were told: the keys under which they created runs, the traces as they read them, and where one read something else later. */
export type Told = { created: Map<string, number>; traces: Map<number, string[]>; changed: string[] }

/**
 * Every way in which the world is not as it must be at any moment, as lines for a person; none is right. I1: an acknowledged create is exactly
 * one run. I2: a status follows another only along the table, and nothing follows the end of a turn. I3: traces are dense, and a page once
 * read never changes. I4: owners follow each other. I5: at most one pull request of a run, on what the branch holds.
 */
export async function broken(cluster: Cluster, told: Told): Promise<string[]> {
  const found = await Promise.all([
    ...[lost(cluster, told), forbiddenMoves(cluster), gaps(cluster), mixedOwners(cluster)],
    manyPullRequests(cluster),
  ])
  return [...found.flat(), ...told.changed]
}

async function lost({ rows }: Cluster, { created }: Told): Promise<string[]> {
  const known = await rows<{ id: number; key: string; n: number }>(
    `select min(id) as id, metadata::json ->> 'key' as key, count(*) as n from runs where metadata is not null group by 2`,
  )
  const by_key = new Map(known.map(run => [run.key, run]))
  const missing = [...created].filter(([key, id]) => by_key.get(key)?.id !== id).map(([key, id]) => `I1: run ${id} of ${key} is not there`)
  return [...missing, ...known.filter(run => run.n !== 1).map(run => `I1: ${run.n} runs of ${run.key}`)]
}

async function forbiddenMoves({ rows }: Cluster): Promise<string[]> {
  const events = await rows<{ run_id: number; status: RunStatus }>(
    `select run_id, body::json ->> 'status' as status from events where type in ('agent_run.created', 'agent_run.status') and run_id is not null order by run_id, seq`,
  )
  const wrong: string[] = []
  for (const [i, { run_id, status }] of events.entries()) {
    const before = events[i - 1]
    if (before?.run_id !== run_id || before.status === status) continue
    // A claim is no event: `starting` may stand between any two.
    const direct = mayMove({ from: before.status, to: status, by_resume: true })
    const by_claim = before.status === 'queued' && mayMove({ from: 'starting', to: status })
    if (!direct && !by_claim) wrong.push(`I2: run ${run_id} went from ${before.status} to ${status}`)
  }
  return wrong
}

async function gaps({ rows }: Cluster): Promise<string[]> {
  const found = await rows<{ id: number }>(
    `select r.id from runs r left join log_entries e on e.run_id = r.id group by r.id
      having count(e.seq) <> r.total_logs or coalesce(min(e.seq), 1) <> 1 or coalesce(max(e.seq), 0) <> r.total_logs`,
  )
  const journals = await rows<{ id: number }>(
    'select r.id from runs r left join journal j on j.run_id = r.id group by r.id having count(j.n) <> r.journal_count or coalesce(max(j.n), 0) <> r.journal_count',
  )
  return [
    ...found.map(run => `I3: the trace of run ${run.id} has a gap`),
    ...journals.map(run => `I3: the journal of run ${run.id} has a gap`),
  ]
}

async function mixedOwners({ rows }: Cluster): Promise<string[]> {
  const found = await rows<{ run_id: number; n: number }>(
    'select run_id, n from (select run_id, n, epoch, lag(epoch) over (partition by run_id order by n) as before from journal) j where epoch < before',
  )
  return found.map(record => `I4: record ${record.n} of run ${record.run_id} was written by an owner of before`)
}

async function manyPullRequests({ rows }: Cluster): Promise<string[]> {
  const found = await rows<{ run_id: number; n: number }>(
    'select run_id, count(*) as n from pull_requests group by run_id having count(*) > 1',
  )
  return found.map(run => `I5: run ${run.run_id} has ${run.n} pull requests`)
}

type Ended = {
  id: number
  name: string
  status: string
  branch: string | null
  head_sha: string | null
  error_message: string | null
  model_calls: number
}

/**
 * What must hold of runs that were to be completed, once all have ended. I5: the branch is the bundle that was taken last. I6: each has ended.
 * I8: no process of theirs is left. I10: no call of the provider is unknown. And every step left exactly one line.
 */
export async function unfinished(
  cluster: Cluster,
  steps: number,
  provider_calls: Map<string, number>,
  data_dirs: string[],
): Promise<string[]> {
  const runs = await cluster.rows<Ended>(
    `select id, substring(prompt from 'chaos (\\d+):') as name, status, branch, head_sha, error_message,
      (select count(*) from journal j where j.run_id = runs.id and j.kind = 'model_started') as model_calls from runs where metadata is not null order by id`,
  )
  const lines = Array.from({ length: steps }, (_, i) => `step ${i + 1}\n`).join('')
  const wrong: string[] = []
  for (const run of runs) {
    if (run.status !== 'completed') wrong.push(`I6: run ${run.id} is ${run.status}: ${run.error_message}`)
    if (run.model_calls < (provider_calls.get(run.name) ?? 0))
      wrong.push(`I10: run ${run.id} knows ${run.model_calls} calls of ${provider_calls.get(run.name)}`)
    if (run.status !== 'completed' || run.branch === null) continue
    const oid = gitIn(cluster.repository, 'rev-parse', run.branch).trim()
    if (oid !== run.head_sha) wrong.push(`I5: branch ${run.branch} is at ${oid}, run ${run.id} at ${run.head_sha}`)
    const effects = gitIn(cluster.repository, 'show', `${run.branch}:${EFFECTS}`)
    if (effects !== lines) wrong.push(`run ${run.id} left ${JSON.stringify(effects)}`)
  }
  const without = await cluster.rows<{ id: number }>(
    `select id from runs where metadata is not null and status = 'completed' and not exists (select 1 from pull_requests p where p.run_id = runs.id)`,
  )
  const left = data_dirs.flatMap(data_dir => sandboxProcesses(data_dir))
  return [
    ...wrong,
    ...without.map(run => `I5: run ${run.id} has no pull request`),
    ...(left.length > 0 ? [`I8: processes ${left.join(', ')} are left`] : []),
  ]
}
