import { actionTool } from '../../contract/runs/action-tools.ts'
import { changedOne, type Db } from '../database.ts'

/**
 * SQL: the records of a run up to entry `seq`: those written by then, up to the first response of the model
 * that is shown later. A response is written before the entries of its tools, so one that was written at
 * `seq` belongs to what follows.
 */
const records = `cut as (select coalesce(min(n), 2147483647) as n from journal
    where organization_id = $1 and run_id = $2 and kind = 'model_answered' and seq >= $3),
  kept as (select j.* from journal j, cut where j.organization_id = $1 and j.run_id = $2 and j.n < cut.n and j.seq <= $3)`

/**
 * Copies the conversation of a run up to entry `seq` to a new run, as records of turn 0. Open steps and limit
 * notices are not copied. Messages of people that had not been delivered to the agent by then are queued for
 * delivery.
 */
export async function copyConversation(
  db: Db,
  organization_id: number,
  from: { run_id: number; seq: number },
  to_run_id: number,
): Promise<void> {
  await db.query({
    name: 'copy_conversation',
    text: `with ${records}, copied as (
        insert into journal (run_id, n, organization_id, turn, epoch, seq, kind, key, body)
        select r.id, row_number() over (order by t.n), r.organization_id, 0, 0, 0, t.kind, t.key, t.body
        from kept t
        join runs r on r.organization_id = $1 and r.id = $4
        where t.kind in ('message', 'model_answered', 'tool_finished', 'compacted')
          and t.key is distinct from 'notice'
        returning n
      ),
      waiting as (
        insert into messages (run_id, organization_id, seq, turn, mode, text, images, user_id)
        select r.id, r.organization_id, 0, 1, 'prompt', m.text, m.images, m.user_id
        from messages m
        join runs r on r.organization_id = $1 and r.id = $4
        where m.organization_id = $1
          and m.run_id = $2
          and m.seq <= $3
          and (
            m.delivered_at is null
            or m.delivered_n is not null
            and not exists (select 1 from kept where kept.n = m.delivered_n)
          )
        order by m.id
        returning id
      )
      update runs
      set journal_count = (select count(*) from copied), pending_messages = (select count(*) from waiting)
      where organization_id = $1 and id = $4`,
    values: [organization_id, from.run_id, from.seq, to_run_id],
  })
}

/**
 * Returns whether a tool that may have changed files had ended by entry `seq`; the first checkout does not
 * count.
 */
export function hasChangedFiles(
  db: Db,
  organization_id: number,
  run_id: number,
  seq: number,
  tools_without_effect: readonly string[],
): Promise<boolean> {
  return changedOne(db, {
    name: 'has_changed_files',
    text: `select 1
      from log_entries
      where organization_id = $1
        and run_id = $2
        and seq <= $3
        and message_type = 'ACTION'
        and tool_name <> '${actionTool.git_clone}'
        and tool_name <> all ($4)
      limit 1`,
    values: [organization_id, run_id, seq, tools_without_effect],
  })
}
