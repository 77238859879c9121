import { searchBits } from '../../core/runs/trace/search-signature.ts'
import { entry_keys, entryHeadSql } from '../../core/runs/trace/stored-entry.ts'
import type { KindRow } from '../../core/runs/trace/timeline.ts'
import { allRows, type Db, only, type Statement, type Transactional, texts_only } from '../database.ts'

export type EntryRow = { seq: number; body: string }

/** SQL: `body` without its head. Every time has the same length. */
const tail_of_body = `substr(body, 1 + length(${entryHeadSql({
  agent_run_id: 'run_id',
  seq: 'seq',
  created_at: `'${new Date(0).toISOString()}'`,
  turn: 'turn',
})}))`

/**
 * Returns the texts of entries `from` … `to` by seq, both included, oldest first: a range of the primary key,
 * so its cost does not grow with `from`.
 */
export async function listEntries(
  db: Db,
  organization_id: number,
  run_id: number,
  from: number,
  to: number,
): Promise<string[]> {
  const { rows } = await db.query<{ 0: string }>({
    name: 'list_entries',
    text: `select body
      from log_entries
      where organization_id = $1 and run_id = $2 and seq between $3 and $4
      order by seq`,
    values: [organization_id, run_id, from, to],
    ...texts_only,
  })
  return rows.map(row => row[0])
}

/** Returns at most `limit` entries after `after_seq`, oldest first. */
export function listEntriesAfter(
  db: Db,
  organization_id: number,
  run_id: number,
  after_seq: number,
  limit: number,
): Promise<EntryRow[]> {
  return allRows<EntryRow>(db, {
    name: 'list_entries_after',
    text: `select seq, body
      from log_entries
      where organization_id = $1 and run_id = $2 and seq > $3
      order by seq
      limit $4`,
    values: [organization_id, run_id, after_seq, limit],
  })
}

type EntryFilter = {
  after_seq?: number | undefined
  before_seq?: number | undefined
  message_type?: string[] | undefined
  tool_name?: string[] | undefined
  failed?: boolean | undefined
  /** Use `searchEntries` to search for a text. */
  q?: undefined
}
type Page = { skip: number; limit: number; reverse: boolean }
export type FoundEntries = { rows: EntryRow[]; total: number }

/**
 * Returns one page of the matching entries, and how many match in all. `skip` counts matches. Each entry is
 * read once, for both.
 */
export const findEntries = (
  db: Db,
  organization_id: number,
  run_id: number,
  filter: EntryFilter,
  page: Page,
): Promise<FoundEntries> => selectEntries(db, [organization_id, run_id], filter, null, page)

/**
 * Returns entries like `findEntries`, but those whose text contains `q`. PostgreSQL divides the scan among
 * its free parallel workers.
 */
export function searchEntries(
  db: Transactional,
  organization_id: number,
  run_id: number,
  { q, ...filter }: Omit<EntryFilter, 'q'> & { q: string },
  page: Page,
): Promise<FoundEntries> {
  return db.transaction(async tx => {
    await tx.query(parallel_scans)
    return selectEntries(tx, [organization_id, run_id], filter, foldedText(q), page)
  })
}

/**
 * The planner underestimates the cost of decompressing and folding a text, so it parallelizes too few scans
 * by default.
 */
const parallel_scans: Statement = {
  text: `select set_config('parallel_setup_cost', '0', true), set_config('parallel_tuple_cost', '0', true),
      set_config('min_parallel_table_scan_size', '512kB', true),
      set_config('min_parallel_index_scan_size', '0', true)`,
}

/** Returns a searched text as `body` has it: as JSON, in lower case. */
const foldedText = (q: string): string => JSON.stringify(q).slice(1, -1).toLowerCase()

/**
 * Returns the `seq` of the entries after `after` up to `to` that contain `q`, at most `limit`, ascending.
 * Only what the writer of an entry chose is searched, not its run, `seq`, time and turn. Entries whose
 * signature excludes `q` are not read.
 */
export function searchRange(
  db: Transactional,
  [organization_id, run_id]: [number, number],
  {
    q,
    message_type,
    tool_name,
    failed,
  }: Pick<EntryFilter, 'message_type' | 'tool_name' | 'failed'> & { q: string },
  range: { after: number; to: number; limit: number },
): Promise<number[]> {
  const folded = foldedText(q)
  const bits = searchBits(folded)
  const excluded =
    bits.map(bit => `get_bit(signature, ${bit} & (length(signature) * 8 - 1)) = 0`).join(' or ') || 'false'
  return db.transaction(async tx => {
    await tx.query(parallel_scans)
    const { rows } = await tx.query<{ seq: number }>({
      // Materialized, because a limit in the scan would prevent parallel workers. The first characters are
      // decompressed without the rest.
      text: `with hits as materialized (
          select seq
          from log_entries
          where organization_id = $1
            and run_id = $2
            and seq > $3
            and seq <= $4
            and ($5::text[] is null or message_type = any($5))
            and ($6::text[] is null or tool_name = any($6))
            and ($9::boolean is null or failed = $9)
            and case when ${excluded} then false else ${containsText(folded, tail_of_body)} end
        )
        select seq
        from hits
        order by seq
        limit $8`,
      values: [
        ...[organization_id, run_id, range.after, range.to, message_type ?? null, tool_name ?? null],
        ...[folded, range.limit, failed ?? null],
      ],
    })
    return rows.map(({ seq }) => seq)
  })
}

/** Returns entries by their `seq`, ascending. */
export function entriesBySeq(
  db: Db,
  organization_id: number,
  run_id: number,
  seqs: number[],
): Promise<EntryRow[]> {
  return allRows<EntryRow>(db, {
    name: 'entries_by_seq',
    text: `select seq, body
      from log_entries
      where organization_id = $1 and run_id = $2 and seq = any($3::int[])
      order by seq`,
    values: [organization_id, run_id, seqs],
  })
}

/**
 * Counts the entries of each kind in each part of a trace. `starts`: the first entry of each part, ascending.
 * No body is read.
 */
export function countKinds(
  db: Db,
  organization_id: number,
  run_id: number,
  starts: number[],
): Promise<KindRow[]> {
  return allRows<KindRow>(db, {
    name: 'count_kinds',
    text: `select width_bucket(seq, $3::int[]) as part, turn, message_type, tool_name, count(*) as entries,
        count(*) filter (where failed) as failed, min(seq) as from_seq, max(seq) as through_seq,
        floor(extract(epoch from min(created_at)) * 1000)::float8 as first_at,
        floor(extract(epoch from max(created_at)) * 1000)::float8 as last_at
      from log_entries
      where organization_id = $1 and run_id = $2
      group by part, turn, message_type, tool_name`,
    values: [organization_id, run_id, starts],
  })
}

/** Returns the newest plans of a run, at most `limit`, oldest first: entries as JSON text. */
export async function listPlans(
  db: Db,
  organization_id: number,
  run_id: number,
  limit: number,
): Promise<{ seq: number; body: string }[]> {
  const { rows } = await db.query<{ seq: number; body: string }>({
    name: 'list_plans',
    text: `select seq, body
      from log_entries
      where organization_id = $1 and run_id = $2 and message_type = 'PLAN_EVALUATION'
      order by seq desc
      limit $3`,
    values: [organization_id, run_id, limit],
  })
  return rows.reverse()
}

async function selectEntries(
  db: Db,
  run: [number, number],
  filter: EntryFilter,
  q: string | null,
  page: Page,
): Promise<FoundEntries> {
  const order = page.reverse ? 'desc' : 'asc'
  const { rows } = await db.query<{ total: number; seq: number | null; body: string | null }>({
    text: `with hits as materialized (
        select seq
        from log_entries
        where organization_id = $1
          and run_id = $2
          and ($3::int is null or seq > $3)
          and ($4::int is null or seq < $4)
          and ($5::text[] is null or message_type = any($5))
          and ($6::text[] is null or tool_name = any($6))
          and ($10::boolean is null or failed = $10)
          and ($7::text is null or (${containsText(q ?? '')}))
      ),
      page as (select seq from hits order by seq ${order} limit $8 offset $9)
      select counted.total, e.seq, e.body
      from (select count(*) as total from hits) counted
      left join (page join log_entries e using (seq)) on e.organization_id = $1 and e.run_id = $2
      order by seq ${order}`,
    values: [
      ...[...run, filter.after_seq ?? null, filter.before_seq ?? null],
      ...[
        filter.message_type ?? null,
        filter.tool_name ?? null,
        q,
        page.limit,
        page.skip,
        filter.failed ?? null,
      ],
    ],
  })
  const found = rows.flatMap(({ seq, body }) => (seq === null || body === null ? [] : [{ seq, body }]))
  return { rows: found, total: only(rows.slice(0, 1)).total }
}

/**
 * SQL: whether the text of `body` contains $7, which is `q`. A quote in `q` is escaped and the quotes of a
 * key are not, so only a `q` that is part of a key or a literal, or that starts in one, can match outside the
 * text. Only the keys that can match are removed, because each costs a pass.
 */
function containsText(q: string, body = 'body'): string {
  // A comma or a brace follows a literal: without that check each `q` that begins with an "e" or an "l" would
  // cost all literals.
  const begins = (literal: string) =>
    literal.includes(q) ||
    [...literal].some(
      (_, at) => q.startsWith(literal.slice(at)) && ',}'.includes(q[literal.length - at] ?? '.'),
    )
  const named: [string, readonly string[]][] = Object.entries(entry_keys)
  const literals = named.flatMap(([name, all]) => all.filter(begins).map(literal => `"${name}"${literal}`))
  const alone = named.filter(([name]) => name.includes(q) || q.startsWith(':')).map(([name]) => `"${name}":`)
  const text = [...literals, ...alone].reduce((sql, removed) => `replace(${sql}, '${removed}', '')`, body)
  return `strpos(lower(${text}${foldsAsAscii(q) ? ' collate "C"' : ''}), $7) > 0`
}

/**
 * Returns whether only ASCII letters of `q` have a case. Folding only their case takes half the time, which
 * dominates a search.
 */
function foldsAsAscii(q: string): boolean {
  const other = q.replace(/\p{ASCII}/gu, '')
  return other.toUpperCase() === other
}
