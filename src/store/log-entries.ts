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
  message_type?: string[] | undefined
  tool_name?: string[] | undefined
  q?: string | undefined
}

/** One page of the entries that match, and how many match in all. `skip` counts matches. Each entry is read once, for both. */
export async function findEntries(
  db: Db,
  organization_id: number,
  run_id: number,
  filter: EntryFilter,
  page: { skip: number; limit: number; reverse: boolean },
): Promise<{ rows: EntryRow[]; total: number }> {
  const q = filter.q === undefined ? null : JSON.stringify(filter.q).slice(1, -1).toLowerCase()
  const order = page.reverse ? 'desc' : 'asc'
  const { rows } = await db.query<{ total: number; seq: number | null; body: string | null }>({
    text: `with hits as materialized (
        select seq from log_entries
        where organization_id = $1 and run_id = $2 and ($3::int is null or seq > $3) and ($4::int is null or seq < $4)
          and ($5::text[] is null or message_type = any($5)) and ($6::text[] is null or tool_name = any($6)) and ($7::text is null or (${holds(q ?? '')}))
      ), page as (select seq from hits order by seq ${order} limit $8 offset $9)
      select counted.total, e.seq, e.body from (select count(*) as total from hits) counted
      left join (page join log_entries e using (seq)) on e.organization_id = $1 and e.run_id = $2 order by seq ${order}`,
    values: [
      ...[organization_id, run_id, filter.after_seq ?? null, filter.before_seq ?? null],
      ...[filter.message_type ?? null, filter.tool_name ?? null, q, page.limit, page.skip],
    ],
  })
  const found = rows.flatMap(({ seq, body }) => (seq === null || body === null ? [] : [{ seq, body }]))
  return { rows: found, total: only(rows.slice(0, 1)).total }
}

/** Names that entries hold are no text of any; whoever looks for "output" does not mean `"tool_output":`, nor what no text stands behind. */
const NAMES =
  'agent_run_id seq created_at turn message_type thought tool_name tool_input tool_output observation duration_ms truncated artifact_url'
const LITERALS = [':null', ':true', ':false']

/**
 * Whether the text of `body` holds $7, which is `q`. A quote of `q` is escaped, and one of a name is not: only a `q` that is a part of a name,
 * or begins in what follows one, can be found where no text is, and only for that names are taken out, without a regular expression.
 */
function holds(q: string): string {
  const names = NAMES.split(' ')
  const begins = (literal: string) => literal.includes(q) || [...literal].some((_, at) => q.startsWith(literal.slice(at)))
  const literals = LITERALS.filter(begins).flatMap(literal => names.map(name => `"${name}"${literal}`))
  const alone = names.filter(name => name.includes(q) || q.startsWith(':')).map(name => `"${name}":`)
  const text = [...literals, ...alone].reduce((sql, taken) => `replace(${sql}, '${taken}', '')`, 'body')
  return `strpos(lower(${text}), $7) > 0`
}
