import type { RunStatus } from '../../src/contract/runs/runs.ts'
import { mayMove } from '../../src/core/runs/run-transitions.ts'
import { gitIn, PRICED } from '../runs/coding-app.ts'
import type { Cluster } from '../runs/recovery/cluster.ts'
import { sandboxProcesses } from '../runs/sandboxes/sandbox-processes.ts'
import { EFFECTS, RESPONSE, type ServedRequests } from './careful-agent.ts'

/**
 * The knowledge of clients: the keys under which they created runs, the traces as they read them, and later
 * changes of what they had read.
 */
export type ObservedRuns = { created: Map<string, number>; traces: Map<number, string[]>; changed: string[] }

/**
 * Returns every violated invariant as a line for a person; empty when all hold. I1: an acknowledged create is
 * exactly one run. I2: a status follows another only along the table, and nothing follows the end of a turn.
 * I3: traces are dense, and a page once read never changes. I4: owners follow each other. I5: at most one
 * pull request of a run. I10: no budget is reserved for a run that no worker has, and the daily usage is the
 * sum of the runs.
 */
export async function broken(cluster: Cluster, observed: ObservedRuns): Promise<string[]> {
  const found = await Promise.all([
    ...[lost(cluster, observed), forbiddenMoves(cluster), gaps(cluster), mixedOwners(cluster)],
    manyPullRequests(cluster),
    wrongMoney(cluster),
  ])
  return [...found.flat(), ...observed.changed]
}

async function lost({ rows }: Cluster, { created }: ObservedRuns): Promise<string[]> {
  const known = await rows<{ id: number; key: string; n: number }>(
    `select min(id) as id, metadata::json ->> 'key' as key, count(*) as n
      from runs
      where metadata is not null
      group by 2`,
  )
  const by_key = new Map(known.map(run => [run.key, run]))
  const missing = [...created]
    .filter(([key, id]) => by_key.get(key)?.id !== id)
    .map(([key, id]) => `I1: run ${id} of ${key} is not there`)
  return [...missing, ...known.filter(run => run.n !== 1).map(run => `I1: ${run.n} runs of ${run.key}`)]
}

async function forbiddenMoves({ rows }: Cluster): Promise<string[]> {
  const events = await rows<{ run_id: number; status: RunStatus }>(
    `select run_id, body::json ->> 'status' as status
      from events
      where type in ('agent_run.created', 'agent_run.status') and run_id is not null
      order by run_id, seq`,
  )
  const wrong: string[] = []
  for (const [i, { run_id, status }] of events.entries()) {
    const before = events[i - 1]
    if (before?.run_id !== run_id || before.status === status) continue
    // A claim is not an event: `starting` may occur between any two.
    const direct = mayMove({ from: before.status, to: status, by_resume: true })
    const by_claim = before.status === 'queued' && mayMove({ from: 'starting', to: status })
    if (!direct && !by_claim) wrong.push(`I2: run ${run_id} went from ${before.status} to ${status}`)
  }
  return wrong
}

async function gaps({ rows }: Cluster): Promise<string[]> {
  const found = await rows<{ id: number }>(
    `select r.id
      from runs r
      left join log_entries e on e.run_id = r.id
      group by r.id
      having count(e.seq) <> r.total_logs
        or coalesce(min(e.seq), 1) <> 1
        or coalesce(max(e.seq), 0) <> r.total_logs`,
  )
  const journals = await rows<{ id: number }>(
    `select r.id
      from runs r
      left join journal j on j.run_id = r.id
      group by r.id
      having count(j.n) <> r.journal_count or coalesce(max(j.n), 0) <> r.journal_count`,
  )
  return [
    ...found.map(run => `I3: the trace of run ${run.id} has a gap`),
    ...journals.map(run => `I3: the journal of run ${run.id} has a gap`),
  ]
}

async function mixedOwners({ rows }: Cluster): Promise<string[]> {
  const found = await rows<{ run_id: number; n: number }>(
    `select run_id, n
      from (
        select run_id, n, epoch, lag(epoch) over (partition by run_id order by n) as before
        from journal
      ) j
      where epoch < before`,
  )
  return found.map(
    record => `I4: record ${record.n} of run ${record.run_id} was written by an owner of before`,
  )
}

async function manyPullRequests({ rows }: Cluster): Promise<string[]> {
  const found = await rows<{ run_id: number; n: number }>(
    `select run_id, count(*) as n
      from pull_requests
      group by run_id
      having count(*) > 1`,
  )
  return found.map(run => `I5: run ${run.run_id} has ${run.n} pull requests`)
}

async function wrongMoney({ rows }: Cluster): Promise<string[]> {
  const kept = await rows<{ id: number; status: string; reserved_usd: string }>(
    `select id, status, reserved_usd
      from runs
      where status in ('completed', 'failed', 'cancelled', 'paused') and reserved_usd <> 0`,
  )
  const counted = await rows<{ id: number }>(
    `select r.id
      from runs r
      left join usage_days d on d.organization_id = r.organization_id and d.run_id = r.id
      group by r.id
      having (r.input_tokens, r.output_tokens, r.cost_usd) is distinct from (
        coalesce(sum(d.input_tokens), 0), coalesce(sum(d.output_tokens), 0), coalesce(sum(d.cost_usd), 0)
      )`,
  )
  return [
    ...kept.map(
      run => `I10: ${run.reserved_usd} USD are set aside for run ${run.id}, which is ${run.status}`,
    ),
    ...counted.map(run => `I10: the days of run ${run.id} do not add up to its usage`),
  ]
}

type EndedRun = {
  id: number
  name: string
  status: string
  branch: string | null
  head_sha: string | null
  error_message: string | null
  head_of_pr: string | null
  model_calls: number
  input_tokens: number
  output_tokens: number
  cost_usd: string
  priced: boolean
}

function unpaid(run: EndedRun, { calls, responses }: ServedRequests): string[] {
  const [input, output] = [responses * RESPONSE.input, responses * RESPONSE.output]
  const cost_usd = run.priced ? input * PRICED.input + output * PRICED.output : 0
  const wrong: string[] = []
  if (run.model_calls < calls) wrong.push(`I10: run ${run.id} knows ${run.model_calls} calls of ${calls}`)
  if (run.input_tokens < input || run.output_tokens < output)
    wrong.push(
      `I10: run ${run.id} counts ${run.input_tokens} + ${run.output_tokens} tokens of ${input} + ${output}`,
    )
  if (Number(run.cost_usd) < cost_usd - 1e-9)
    wrong.push(`I10: run ${run.id} counts ${run.cost_usd} USD of ${cost_usd}`)
  return wrong
}

/**
 * Invariants of runs that should be completed, after all have ended. I5: the remote has one branch of each,
 * at the bundle that was taken last and that the pull request is of. I6: each has ended. I8: no process of
 * theirs is left. I10: no call of the provider is unknown, and no token or cent of its responses is missing.
 * And every step left exactly one line.
 */
export async function unfinished(
  cluster: Cluster,
  steps: number,
  served: Map<string, ServedRequests>,
  data_dirs: string[],
): Promise<string[]> {
  const runs = await cluster.rows<EndedRun>(
    `select id, substring(prompt from 'chaos (\\d+):') as name, status, branch, head_sha, error_message,
      input_tokens, output_tokens, cost_usd, model = $1 as priced,
      (select max(head_sha) from pull_requests p where p.run_id = runs.id) as head_of_pr,
      (select count(*) from journal j where j.run_id = runs.id and j.kind = 'model_started') as model_calls from runs where metadata is not null order by id`,
    [PRICED.model],
  )
  const lines = Array.from({ length: steps }, (_, i) => `step ${i + 1}\n`).join('')
  const wrong: string[] = []
  for (const run of runs) {
    if (run.status !== 'completed') wrong.push(`I6: run ${run.id} is ${run.status}: ${run.error_message}`)
    wrong.push(...unpaid(run, served.get(run.name) ?? { calls: 0, responses: 0 }))
    if (run.status !== 'completed' || run.branch === null) continue
    const listed = gitIn(
      cluster.repository,
      'for-each-ref',
      '--format=%(refname:short) %(objectname)',
      `refs/heads/agent/run-${run.id}-*`,
    )
    if (listed !== `${run.branch} ${run.head_sha}\n` || run.head_sha !== run.head_of_pr)
      wrong.push(
        `I5: the remote has ${listed.trim()} of run ${run.id} at ${run.head_sha}, its pull request is of ${run.head_of_pr}`,
      )
    const effects = gitIn(cluster.repository, 'show', `${run.branch}:${EFFECTS}`)
    if (effects !== lines) wrong.push(`run ${run.id} left ${JSON.stringify(effects)}`)
  }
  const without = await cluster.rows<{ id: number }>(
    `select id
      from runs
      where metadata is not null
        and status = 'completed'
        and not exists (select 1 from pull_requests p where p.run_id = runs.id)`,
  )
  const left = data_dirs.flatMap(data_dir => sandboxProcesses(data_dir))
  return [
    ...wrong,
    ...without.map(run => `I5: run ${run.id} has no pull request`),
    ...(left.length > 0 ? [`I8: processes ${left.join(', ')} are left`] : []),
  ]
}
