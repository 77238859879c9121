import type { RunStatus } from '../../contract/runs/runs.ts'
import { searchSignature } from '../../core/runs/trace/search-signature.ts'
import {
  type EntryContent,
  entryHead,
  entryHeadSql,
  entryTail,
  searchedText,
} from '../../core/runs/trace/stored-entry.ts'
import { add_to_day, today } from '../access/usage-days.ts'
import { type Db, firstRow } from '../database.ts'
import { isHeldBy } from '../fence.ts'
import { type FilesAfter, replace_checkpoint } from '../workspaces/checkpoints.ts'
import type { EntryRow } from './log-entries.ts'

/** An entry before it gets its `seq`. */
export type NewEntry = EntryContent & { message_type: string; tool_name: string | null; failed: boolean }
export type NewRecord = {
  kind:
    | 'message'
    | 'model_started'
    | 'model_answered'
    | 'tool_started'
    | 'tool_finished'
    | 'compacted'
    | 'recovered'
    | 'model_failed'
    | 'commit_started'
    | 'push_started'
    | 'set_up'
    | 'checks_judged'
    | 'aside_started'
    | 'aside_ended'
    | 'prompt_started'
  key: string | null
  body: string
}
export type UsageDelta = {
  /** The model that was used, as named on the run. */
  model: string
  steps: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  cost_usd: string | null
  /** Calls of which at least one count is estimated. */
  estimated_calls: number
}

/**
 * What is appended together. `reserved_usd`: the amount that is reserved for the model call in flight from
 * now on. `files`: those after the entries, so that neither is stored without the other.
 */
export type Addition = {
  entries?: NewEntry[]
  records?: NewRecord[]
  usage?: UsageDelta
  reserved_usd?: string
  files?: FilesAfter | null
}

/**
 * The state of the run that each append returns, so that the writer need not query it. `written_at`: of its
 * entries, as their texts have it.
 */
export type AppendResult = {
  status: RunStatus
  total_logs: number
  pending_messages: number
  interrupt_requested: boolean
  turn: number
  written_at: string
}

const written_at = `to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const head = entryHeadSql({
  agent_run_id: 'run.id',
  seq: '(run.total_logs - $4 + e.ordinal)',
  created_at: written_at,
  turn: 'run.turn',
})
const nothing = {
  model: null,
  steps: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cost_usd: '0',
  estimated_calls: 0,
}

/**
 * Appends to trace and journal and adds to the usage, in one statement with the fence: entries get the next
 * `seq` of the run, gap-free. Returns undefined, and writes nothing, when the epoch is no longer the run's or
 * the run has ended.
 * @param epoch null for entries of the API, which are ordered by the row lock alone
 */
export function append(
  db: Db,
  organization_id: number,
  run_id: number,
  epoch: number | null,
  add: Addition,
): Promise<AppendResult | undefined> {
  const entries = add.entries ?? []
  const records = add.records ?? []
  const usage = add.usage ?? nothing
  const files = add.files ?? null
  const checkpoint = files !== null && 'tree' in files ? files : null
  // The first texts are the long ones as a rule. As elements of a list they would be escaped here and parsed
  // there.
  const tails = entries.map(entryTail)
  const [first_tail, ...other_tails] = tails
  const [first_record, ...other_records] = records
  return firstRow<AppendResult>(db, {
    name: 'append',
    text: `with run as (
        update runs
        set total_logs = total_logs + $4, journal_count = journal_count + $5, steps = steps + $6,
            input_tokens = input_tokens + $7, output_tokens = output_tokens + $8,
            cached_tokens = cached_tokens + $9, estimated_calls = estimated_calls + $26, cost_usd = cost_usd + coalesce($10::numeric, 0),
            cost_known = cost_known
          and $10::numeric is not null, reserved_usd = coalesce($18::numeric, reserved_usd),
            updated_at = now(),
            last_progress_at = case when $4 + $5 + $6 > 0 then now() else last_progress_at end
        where organization_id = $1 and id = $2 and ($3::int is null or (${isHeldBy('$3')}))
        returning id, organization_id, user_id, repository_id, turn, epoch, status, total_logs, journal_count,
          pending_messages, interrupt_requested
      ),
      entries as (
        insert into log_entries (
          run_id, seq, organization_id, turn, message_type, tool_name, body, signature, failed
        )
        select run.id, run.total_logs - $4 + e.ordinal, run.organization_id, run.turn, e.message_type,
          e.tool_name, ${head} || e.tail, e.signature, e.failed
        from run,
          unnest(
            $11::text[], $12::text[], $13::text || $21::text[], $19::bytea[], $20::boolean[]
          ) with ordinality as e (message_type, tool_name, tail, signature, failed, ordinal)
        where e.ordinal <= $4
      ),
      records as (
        insert into journal (run_id, n, organization_id, turn, epoch, seq, kind, key, body, cost_usd)
        select run.id, run.journal_count - $5 + j.ordinal, run.organization_id, run.turn, run.epoch,
          run.total_logs, j.kind, j.key, j.body,
          case when j.ordinal = 1 and $17::text is not null then $10::numeric end
        from run,
          unnest(
            $14::text[], $15::text[], $16::text || $22::text[]
          ) with ordinality as j (kind, key, body, ordinal)
        where j.ordinal <= $5
      ),
      used as (
        insert into usage_days (
          organization_id, day, run_id, model, user_id, repository_id, input_tokens, output_tokens,
          cached_tokens, cost_usd, cost_known, estimated_calls
        )
        select organization_id, ${today}, id, $17::text, user_id, repository_id, $7, $8, $9,
          coalesce($10::numeric, 0), $10::numeric is not null, $26
        from run
        where $17::text is not null ${add_to_day}
      ),
      unchanged as (
        update checkpoints c
        set through_seq = greatest(c.through_seq, run.total_logs)
        from run
        where c.organization_id = run.organization_id and c.run_id = run.id and c.seq = $23::int
      ),
      checkpoint as (
        insert into checkpoints (
          organization_id, run_id, seq, through_seq, packs, tree, head, branch, left_out, base_sha
        )
        select run.organization_id, run.id, run.total_logs - greatest(0, $4 - 1), run.total_logs, $24::int,
          ($25::text[])[1], ($25::text[])[2], ($25::text[])[3], ($25::text[])[4], ($25::text[])[5]
        from run
        where $24::int is not null ${replace_checkpoint}
      )
      select status, total_logs, pending_messages, interrupt_requested, turn, ${written_at} as written_at
      from run`,
    values: [
      organization_id,
      run_id,
      epoch,
      entries.length,
      records.length,
      usage.steps,
      usage.input_tokens,
      usage.output_tokens,
      usage.cached_tokens,
      usage.cost_usd,
      entries.map(e => e.message_type),
      entries.map(e => e.tool_name),
      first_tail,
      records.map(r => r.kind),
      records.map(r => r.key),
      first_record?.body,
      usage.model,
      add.reserved_usd ?? null,
      tails.map(tail => searchSignature(searchedText(tail))),
      entries.map(e => e.failed),
      other_tails,
      other_records.map(r => r.body),
      files !== null && 'unchanged_since' in files ? files.unchanged_since : null,
      checkpoint?.packs,
      checkpoint && [
        checkpoint.tree,
        checkpoint.head,
        checkpoint.branch,
        checkpoint.left_out,
        checkpoint.base_sha,
      ],
      usage.estimated_calls,
    ],
  })
}

/** Returns the entries of an append as they are stored. */
export function appendedEntries(
  run_id: number,
  entries: NewEntry[],
  { total_logs, turn, written_at }: AppendResult,
): EntryRow[] {
  return entries.map((entry, n) => {
    const seq = total_logs - entries.length + 1 + n
    return {
      seq,
      body: entryHead({ agent_run_id: run_id, seq, created_at: written_at, turn }) + entryTail(entry),
    }
  })
}
