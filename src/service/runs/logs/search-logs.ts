import { limits } from '../../../contract/limits.ts'
import type { LogHit, LogSearch, SearchLogsQuery } from '../../../contract/runs/log-search.ts'
import type { LogEntry } from '../../../contract/runs/logs.ts'
import { storedJson } from '../../../core/json/stored-json.ts'
import { textAround } from '../../../core/text/text-around.ts'
import { entriesBySeq, searchRange } from '../../../store/runs/log-entries.ts'
import type { Context } from '../../context.ts'
import { runNotFound } from '../runs.ts'

type SearchContext = Pick<Context, 'db' | 'organization_id' | 'run_head'>

const MAX_SEQS = 10_000
/**
 * A request starts no further statement after this time, so that the first hits are shown at once and none
 * takes the database for long.
 */
const SEARCH_MS = 50
/**
 * The range of a statement is chosen to take this time, by the one before. Entries differ in size from 200
 * bytes to 200 KB.
 */
const STATEMENT_MS = 30
const FIRST_RANGE = 250
const MAX_GROWTH = 8
const SNIPPET_CHARS = 160

/**
 * Searches the trace of a run from entry `after_seq` on, oldest first (specification.md#logs). A request does
 * bounded work: its `searched_to` reports how far it came, and the caller continues there. 404 when the run
 * is not in this organization.
 */
export async function searchRunLogs(
  ctx: SearchContext,
  run_id: number,
  query: SearchLogsQuery,
): Promise<LogSearch> {
  const run = ctx.run_head
  if (run === null) throw runNotFound()
  const { seqs, searched_to } = await searchForward(ctx, run_id, query, run.total_logs)
  const wanted = seqs.slice(0, query.limit ?? limits.page_limit)
  const rows = wanted.length === 0 ? [] : await entriesBySeq(ctx.db, ctx.organization_id, run_id, wanted)
  return {
    agent_run_id: run_id,
    seqs,
    hits: rows.map(({ body }) => hitOf(storedJson<LogEntry>(body), query.q)),
    searched_to,
    complete: searched_to >= run.total_logs,
    total_logs: run.total_logs,
  }
}

async function searchForward(
  ctx: SearchContext,
  run_id: number,
  { limit: _limit, after_seq = 0, ...filter }: SearchLogsQuery,
  last: number,
) {
  const started = performance.now()
  const seqs: number[] = []
  let searched_to = Math.min(after_seq, last)
  for (let size = FIRST_RANGE; searched_to < last && seqs.length < MAX_SEQS; ) {
    const statement_started = performance.now()
    if (statement_started - started > SEARCH_MS) break
    const range = {
      after: searched_to,
      to: Math.min(searched_to + size, last),
      limit: MAX_SEQS - seqs.length,
    }
    const found = await searchRange(ctx.db, [ctx.organization_id, run_id], filter, range)
    seqs.push(...found)
    searched_to = found.length === range.limit ? (found.at(-1) ?? range.to) : range.to
    const growth = STATEMENT_MS / (performance.now() - statement_started)
    size = Math.max(FIRST_RANGE, Math.floor(size * Math.min(growth, MAX_GROWTH)))
  }
  return { seqs, searched_to }
}

function hitOf(entry: LogEntry, q: string): LogHit {
  const { seq, created_at, turn, message_type, tool_name, thought, tool_input, tool_output, observation } =
    entry
  const texts = { thought, tool_name, tool_input, tool_output, observation, message_type }
  const [field, text] = firstText(texts, q, '') ?? ['', JSON.stringify(texts)]
  const { around, start, length } = textAround(text, q, SNIPPET_CHARS)
  return {
    seq,
    created_at,
    turn,
    message_type,
    tool_name,
    field,
    snippet: around,
    match_start: start,
    match_length: length,
  }
}

/** Returns the first text in a value that contains `q`, and its path. */
function firstText(value: unknown, q: string, path: string): [string, string] | undefined {
  if (value === null || typeof value !== 'object') {
    return value !== null && `${value}`.toLowerCase().includes(q.toLowerCase())
      ? [path, `${value}`]
      : undefined
  }
  for (const [name, inner] of Object.entries(value)) {
    const found = firstText(inner, q, path === '' ? name : `${path}.${name}`)
    if (found) return found
  }
  return undefined
}
