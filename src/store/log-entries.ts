import { type Db, only } from './database.ts'

export type EntryRow = { seq: number; body: string }

/** Entries `from` … `to` by seq, both included, oldest first: a range of the primary key, so its cost does not grow with `from`. */
export async function listEntries(db: Db, organization_id: number, run_id: number, from: number, to: number): Promise<EntryRow[]> {
  const { rows } = await db.query<EntryRow>({
    name: 'list_entries',
    text: 'select seq, body from log_entries where organization_id = $1 and run_id = $2 and seq between $3 and $4 order by seq',
    values: [organization_id, run_id, from, to],
  })
  return rows
}

/** At most `limit` entries after `after_seq`, oldest first. */
export async function listEntriesAfter(
  db: Db,
  organization_id: number,
  run_id: number,
  after_seq: number,
  limit: number,
): Promise<EntryRow[]> {
  const { rows } = await db.query<EntryRow>({
    name: 'list_entries_after',
    text: 'select seq, body from log_entries where organization_id = $1 and run_id = $2 and seq > $3 order by seq limit $4',
    values: [organization_id, run_id, after_seq, limit],
  })
  return rows
}

export type EntryFilter = {
  after_seq?: number | undefined
  before_seq?: number | undefined
  message_type?: string | undefined
  tool_name?: string | undefined
  q?: string | undefined
}

// The names that every entry holds are no text of any; whoever looks for "output" does not mean `"tool_output":`.
const text_of_body = `regexp_replace(body, '"(agent_run_id|seq|created_at|turn|message_type|thought|tool_name|tool_input|tool_output|observation|duration_ms|truncated|artifact_url)":(null|true|false)?', '', 'g')`

/** One page of the entries that match, and how many match in all. `skip` counts matches. */
export async function findEntries(
  db: Db,
  organization_id: number,
  run_id: number,
  filter: EntryFilter,
  page: { skip: number; limit: number; reverse: boolean },
): Promise<{ rows: EntryRow[]; total: number }> {
  const where = `organization_id = $1 and run_id = $2 and ($3::int is null or seq > $3) and ($4::int is null or seq < $4)
    and ($5::text is null or message_type = $5) and ($6::text is null or tool_name = $6) and ($7::text is null or (strpos(lower(body), $7) > 0 and strpos(lower(${text_of_body}), $7) > 0))`
  const values = [
    organization_id,
    run_id,
    filter.after_seq ?? null,
    filter.before_seq ?? null,
    filter.message_type ?? null,
    filter.tool_name ?? null,
    filter.q === undefined ? null : JSON.stringify(filter.q).slice(1, -1).toLowerCase(),
  ]
  const found = await db.query<EntryRow>({
    text: `select seq, body from log_entries where ${where} order by seq ${page.reverse ? 'desc' : 'asc'} limit $8 offset $9`,
    values: [...values, page.limit, page.skip],
  })
  const count = await db.query<{ total: number }>({ text: `select count(*) as total from log_entries where ${where}`, values })
  return { rows: found.rows, total: only(count.rows).total }
}
