import { RunStartup } from '../../contract/runs/startups.ts'
import { changedOne, type Db } from '../database.ts'
import { parseColumn } from '../json-column.ts'
import { insertRow } from '../statement.ts'

/** Milliseconds; null: not reached, or not a part of this start. */
export type StartupTimes = {
  queue_ms: number | null
  claim_ms: number | null
  mirror_ms: number | null
  clone_ms: number | null
  setup_ms: number | null
  sandbox_ms: number | null
  first_model_byte_ms: number | null
  first_action_ms: number | null
}
type StartupRow = StartupTimes & Pick<RunStartup, 'environment' | 'spans'> & { started_at: Date }

const PARTS = [
  'queue',
  'claim',
  'mirror',
  'clone',
  'setup',
  'sandbox',
  'first_model_byte',
  'first_action',
] as const

/** Returns false when it was already recorded, or the run was deleted. */
export function insertStartup(
  db: Db,
  organization_id: number,
  run_id: number,
  repository_id: number | null,
  times: StartupTimes & Pick<StartupRow, 'environment' | 'spans'>,
): Promise<boolean> {
  return changedOne(
    db,
    insertRow(
      'run_startups',
      {
        organization_id,
        run_id,
        repository_id,
        environment: times.environment && JSON.stringify(times.environment),
        spans: JSON.stringify(times.spans),
        queue_ms: times.queue_ms,
        claim_ms: times.claim_ms,
        mirror_ms: times.mirror_ms,
        clone_ms: times.clone_ms,
        setup_ms: times.setup_ms,
        sandbox_ms: times.sandbox_ms,
        first_model_byte_ms: times.first_model_byte_ms,
        first_action_ms: times.first_action_ms,
      },
      {
        select: bind => `from runs where organization_id = ${bind(organization_id)} and id = ${bind(run_id)}`,
        end: 'on conflict do nothing',
      },
    ),
  )
}

/**
 * Returns how long each part of the first start of a run took, in milliseconds; undefined before it is
 * recorded.
 */
export async function getStartup(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<StartupRow | undefined> {
  const { rows } = await db.query<
    StartupTimes & { environment: string | null; spans: string; started_at: Date }
  >({
    name: 'get_startup',
    text: `select started_at, environment, spans, ${PARTS.map(part => `${part}_ms`).join(', ')}
      from run_startups
      where organization_id = $1 and run_id = $2`,
    values: [organization_id, run_id],
  })
  const [row] = rows
  return (
    row && {
      ...row,
      environment:
        row.environment === null ? null : parseColumn(RunStartup.shape.environment, row.environment),
      spans: parseColumn(RunStartup.shape.spans, row.spans),
    }
  )
}

type StartupMetrics = { runs: number; p50: StartupTimes; p95: StartupTimes }

/** Returns the percentiles over the newest 10,000 starts of a repository's runs since then. */
export async function startupMetrics(
  db: Db,
  organization_id: number,
  repository_id: number,
  since: Date,
): Promise<StartupMetrics> {
  const percentiles = PARTS.flatMap(part =>
    [0.5, 0.95].map(
      share => `percentile_disc(${share}) within group (order by ${part}_ms) as ${part}_${share * 100}`,
    ),
  )
  const { rows } = await db.query<Record<string, number | null>>({
    name: 'startup_metrics',
    text: `select count(*) as runs, ${percentiles.join(', ')}
      from (
        select *
        from run_startups
        where organization_id = $1 and repository_id = $2 and started_at >= $3
        order by started_at desc
        limit 10000
      ) newest`,
    values: [organization_id, repository_id, since],
  })
  const [found = {}] = rows
  const of = (percent: number) =>
    Object.fromEntries(PARTS.map(part => [`${part}_ms`, found[`${part}_${percent}`] ?? null])) as StartupTimes
  return { runs: found.runs ?? 0, p50: of(50), p95: of(95) }
}
