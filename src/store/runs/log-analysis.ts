import type { SandboxKind } from '../../contract/repositories/sandboxes.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import { allRows, type Db } from '../database.ts'
import { insideSandbox } from './sandbox-entries.ts'
import { toolList } from './tool-list.ts'

/** `body`: null where only the existence of the entry matters, or where it is too long to analyze. */
type AnalyzedEntryRow = { seq: number; tool_name: string | null; body: string | null }

const MAX_BODY_CHARACTERS = 1024 * 1024
// File tools and messages reveal nothing about failures in a sandbox.
const without_body = toolList(
  ...[actionTool.read, actionTool.write, actionTool.edit, actionTool.apply_patch, actionTool.search],
  ...[actionTool.plan, actionTool.ask, actionTool.finish],
)

/**
 * Returns at most `limit` entries before `before_seq` that may describe failures, newest first; of a sandbox,
 * or of the whole run.
 */
export function listEntriesToAnalyze(
  db: Db,
  organization_id: number,
  run_id: number,
  range: { first_seq: number; before_seq: number; kind: SandboxKind | null },
  limit: number,
): Promise<AnalyzedEntryRow[]> {
  return allRows<AnalyzedEntryRow>(db, {
    name: `list_entries_to_analyze_${range.kind ?? 'run'}`,
    text: `select seq, tool_name,
        case when length(body) <= ${MAX_BODY_CHARACTERS} and (
          tool_name is null or tool_name not in ${without_body}
        ) then body end as body
      from log_entries
      where organization_id = $1
        and run_id = $2
        and seq >= $3
        and seq < $4
        and message_type in ('ACTION', 'ERROR')
        and ${range.kind === null ? 'true' : insideSandbox[range.kind]}
      order by seq desc
      limit $5`,
    values: [organization_id, run_id, range.first_seq, range.before_seq, limit],
  })
}

type AnalyzedRunRow = {
  id: number
  repository_id: number | null
  base_sha: string | null
  total_logs: number
}

/**
 * Returns runs that were active in a period, except analyses, and how many there are in all. Newest first.
 */
export async function listRunsToAnalyze(
  db: Db,
  organization_id: number,
  of: { repository_id: number | null; from: string; to: string; repository_ids: readonly number[] | null },
  limit: number,
): Promise<{ rows: AnalyzedRunRow[]; total: number }> {
  const { rows } = await db.query<AnalyzedRunRow & { total: number }>({
    name: 'list_runs_to_analyze',
    text: `select id, repository_id, base_sha, total_logs, count(*) over () as total
      from runs
      where organization_id = $1
        and ($2::bigint is null or repository_id = $2)
        and ($3::bigint[] is null or repository_id = any($3))
        and created_at <= $5
        and last_progress_at >= $4
        and source_type <> 'LOG_ANALYSIS'
      order by id desc
      limit $6`,
    values: [organization_id, of.repository_id, of.repository_ids, of.from, of.to, limit],
  })
  return { rows: rows.map(({ total: _, ...row }) => row), total: rows[0]?.total ?? 0 }
}

/** Returns which of these entries exist. */
export function knownEntries(
  db: Db,
  organization_id: number,
  entries: readonly { agent_run_id: number; seq: number }[],
): Promise<{ agent_run_id: number; seq: number }[]> {
  return allRows<{ agent_run_id: number; seq: number }>(db, {
    name: 'known_entries',
    text: `select e.run_id as agent_run_id, e.seq
      from log_entries e
      join unnest($2::bigint[], $3::int[]) as requested (run_id, seq) on e.run_id = requested.run_id
        and e.seq = requested.seq
      where e.organization_id = $1`,
    values: [organization_id, entries.map(({ agent_run_id }) => agent_run_id), entries.map(({ seq }) => seq)],
  })
}
