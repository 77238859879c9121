import { entryHeadSql } from '../../src/core/runs/trace/stored-entry.ts'
import type { Database } from '../../src/store/database.ts'
import { entryTexts, TEXTS, textsOf } from './words.ts'

export type FilledDatabase = {
  /** The organization with seven of ten runs, its oldest user and repository. */
  organization_id: number
  user_id: number
  repository_id: number
  /** A run with the entries of `long_run`. */
  long_run_id: number
  /** A run of that organization that a worker owns, in its first epoch. */
  live_run_id: number
  runs: number
}
type Size = { runs: number; entries: number; long_run: number }

const ORGANIZATIONS = 4
const USERS = 25
const REPOSITORIES = 40
/** The newest runs are in all the other states. */
const LIVE = 1_000
const CHUNK = 20_000
const FAR = `now() + interval '1 day'`

/**
 * Fills an empty database with runs of the last months and their traces, pull requests, usage and sandboxes.
 * The rows are those that the service would have written; the indexes of large tables are built afterwards,
 * and references are not checked, because that is faster.
 */
export async function fillDatabase(
  db: Database,
  size: Size,
  note: (line: string) => void = () => {},
): Promise<FilledDatabase> {
  await db.query({ text: `set session_replication_role = 'replica'` })
  await db.query({ text: `set work_mem = '128MB'` })
  await db.query({ text: `set maintenance_work_mem = '512MB'` })
  await addPeople(db)
  await addTexts(db)
  const rebuild = await dropIndexes(db, ['runs', 'run_texts', 'run_tags', 'pull_requests', 'sandboxes'])
  for (let from = 1; from <= size.runs; from += CHUNK)
    await addRuns(db, from, Math.min(from + CHUNK - 1, size.runs), size)
  note(`${size.runs} runs`)
  await addOfRuns(db)
  await rebuild()
  note('pull requests, usage, sandboxes and indexes')
  for (let from = 1; from <= size.runs; from += CHUNK) await addEntries(db, from, from + CHUNK - 1)
  await db.query({ text: 'drop table scale_texts, scale_prompts' })
  note(`${size.entries} entries`)
  await db.query({ text: 'vacuum (analyze)' })
  await db.query({ text: `set session_replication_role = 'origin'` })
  const { rows } = await db.query<{ id: number }>({
    text: `select max(id) as id from runs where organization_id = 1 and status = 'running'`,
  })
  return {
    organization_id: 1,
    user_id: 1,
    repository_id: 1,
    long_run_id: 1,
    live_run_id: rows[0]?.id ?? 0,
    runs: size.runs,
  }
}

async function addPeople(db: Database): Promise<void> {
  await db.query({
    text: `insert into organizations (name)
      select 'Organization ' || n
      from generate_series(1, ${ORGANIZATIONS}) n`,
  })
  await db.query({
    text: `insert into users (full_name)
      select 'User ' || n
      from generate_series(1, ${ORGANIZATIONS * USERS}) n`,
  })
  await db.query({
    text: `insert into memberships (organization_id, user_id, role)
      select 1 + (n - 1) / ${USERS}, n, 'ADMIN'
      from generate_series(1, ${ORGANIZATIONS * USERS}) n`,
  })
  await db.query({
    text: `insert into repositories (organization_id, name, full_name, url, kind)
      select 1 + (n - 1) / ${REPOSITORIES}, 'r' || n, 'acme/r' || n, '/nowhere/' || n, 'local'
      from generate_series(1, ${ORGANIZATIONS * REPOSITORIES}) n`,
  })
}

async function addTexts(db: Database): Promise<void> {
  await db.query({
    text: 'create unlogged table scale_texts (n int primary key, tail text not null, signature bytea not null)',
  })
  await db.query({ text: 'create unlogged table scale_prompts (n int primary key, text text not null)' })
  const texts = entryTexts()
  await db.query({
    text: `insert into scale_texts
      select n - 1, tail, signature
      from unnest($1::text[], $2::bytea[]) with ordinality as t (tail, signature, n)`,
    values: [texts.map(({ tail }) => tail), texts.map(({ signature }) => signature)],
  })
  await db.query({
    text: `insert into scale_prompts
      select n - 1, text
      from unnest($1::text[]) with ordinality as t (text, n)`,
    values: [textsOf(TEXTS, 30, 1)],
  })
  await db.query({ text: 'analyze scale_texts, scale_prompts' })
}

/** Drops the indexes of tables that are not constraints, and returns what creates them again. */
async function dropIndexes(db: Database, tables: string[]): Promise<() => Promise<void>> {
  const { rows } = await db.query<{ indexname: string; indexdef: string }>({
    text: `select indexname, indexdef
      from pg_indexes
      where schemaname = 'public'
        and tablename = any($1)
        and not exists (select from pg_constraint where conindid = (schemaname || '.' || indexname)::regclass)`,
    values: [tables],
  })
  for (const { indexname } of rows) await db.query({ text: `drop index ${indexname}` })
  return async () => {
    for (const { indexdef } of rows) await db.query({ text: indexdef })
  }
}

/** SQL: a number below `below` that looks random, for the run `of`. */
const pick = (of: 'n' | 's.n', salt: number, below: number) =>
  `(abs(hashint8(${of} * 31 + ${salt})::bigint) % ${below})`
const ofRun = (salt: number, below: number) => pick('s.n', salt, below)

async function addRuns(
  db: Database,
  from: number,
  to: number,
  { runs, entries, long_run }: Size,
): Promise<void> {
  const each = Math.floor((entries - long_run) / runs)
  const first_live = Math.max(2, runs - LIVE + 1)
  const chosen = `select n, now() - (${runs} - n + 1) * interval '1 minute' as at,
      case when n = 1 or ${pick('n', 1, 10)} < 7 then 1 else 2 + ${pick('n', 2, ORGANIZATIONS - 1)} end as o,
      least(${pick('n', 3, USERS)}, ${pick('n', 13, USERS)}) as u, ${pick('n', 4, REPOSITORIES)} as r,
      case when n >= ${first_live} then (
        array['queued', 'running', 'waiting', 'paused']
      )[1 + n % 4] when ${pick('n', 12, 100)} < 86 then 'completed' when ${pick('n', 12, 100)} < 95 then 'failed' else 'cancelled' end as status
    from generate_series($1::bigint, $2::bigint) n`
  await db.query({
    text: `insert into runs (
        organization_id, user_id, repository_id, status, status_reason, phase, waiting_on, runnable_at, owner,
        lease_until, deadline_at, source_type, agent_type, model, prompt, title, tags, archived, total_logs,
        epoch, created_at, updated_at, turn_started_at, finished_at
      )
      select o, (o - 1) * ${USERS} + 1 + u, (o - 1) * ${REPOSITORIES} + 1 + r, status,
          case status
            when 'failed' then case when r % 2 = 0 then 'agent_error' else 'timeout' end
            when 'paused' then 'budget'
          end, case status when 'running' then 'agent' end, case status when 'waiting' then 'user_input' end,
          case status when 'queued' then at end, case status when 'running' then 'worker ' || u % 4 end,
          case status when 'running' then ${FAR} end,
          case when status in ('queued', 'running', 'waiting') then ${FAR} end,
          (array['API', 'API', 'API', 'LOCAL', 'FORK', 'SLACK'])[1 + ${ofRun(5, 6)}], 'built_in',
          'provider/model-' || least(${ofRun(6, 20)}, ${ofRun(7, 20)}), p.text || ' ' || q.text,
          left(p.text, 60) || ' ' || s.n,
          case ${ofRun(8, 3)}
            when 0 then array['team-' || ${ofRun(9, 40)}, 'nightly']
            when 1 then array['team-' || ${ofRun(9, 40)}]
            else '{}'
          end, s.n < ${first_live}
        and ${ofRun(10, 10)} = 0, case when s.n = 1 then ${long_run} else ${each} end, 1, at, at, at,
          case when status in ('completed', 'failed', 'cancelled') then at + interval '10 minutes' end
      from (${chosen}) s
      join scale_prompts p on p.n = ${ofRun(20, TEXTS)}
      join scale_prompts q on q.n = ${ofRun(21, TEXTS)}
      order by s.n`,
    values: [from, to],
  })
}

/** What belongs to each run, or to some. */
async function addOfRuns(db: Database): Promise<void> {
  await db.query({
    text: `insert into run_texts select organization_id, id, lower(title || E'\\x1f' || prompt) from runs order by id`,
  })
  await db.query({
    text: `insert into run_tags
      select distinct organization_id, unnest(tags) as tag, id
      from runs
      order by organization_id, tag, id`,
  })
  await db.query({
    text: `insert into usage_days (
        organization_id, day, run_id, model, user_id, repository_id, runs, completed, input_tokens,
        output_tokens, cost_usd
      )
      select organization_id, created_at::date, id, model, user_id, repository_id, 1, 1, 40000, 900, 0.02
      from runs
      order by organization_id, id`,
  })
  await db.query({
    text: `insert into pull_requests (
        organization_id, repository_id, run_id, number, state, title, body, url, head_branch, base_branch,
        base_sha, head_sha, files_changed, additions, deletions, created_at, merge_sha, merged_at
      )
      select organization_id, repository_id, id, id, state, title, left(prompt, 200),
        'https://git.invalid/' || id, 'agent/run-' || id, 'main', md5(id::text), md5(id || 'h'), 1, 2, 3,
        created_at, case state when 'merged' then md5(id || 'm') end,
        case state when 'merged' then created_at end
      from (
        select *, case when id % 200 = 0 then 'open' when id % 9 = 0 then 'closed' else 'merged' end as state
        from runs
        where status = 'completed' and id % 5 < 2
      ) r
      order by id`,
  })
  await db.query({
    text: `insert into sandboxes (
        organization_id, run_id, kind, driver, host, epoch, state, end_reason, limits, first_seq, last_seq,
        created_at, ended_at
      )
      select organization_id, id, 'agent', 'bubblewrap', 'host', 1,
        case when finished_at is null then 'running' else 'ended' end,
        case when finished_at is null then null else 'stopped' end,
        '{"max_memory_bytes":1,"cpus":1,"max_processes":1,"max_disk_bytes":1,"max_files":1}', 1,
        case when finished_at is null then null else total_logs end, created_at, finished_at
      from runs
      where status <> 'queued'
      order by id`,
  })
}

async function addEntries(db: Database, from: number, to: number): Promise<void> {
  await db.query({
    text: `insert into log_entries (
        run_id, seq, organization_id, turn, message_type, tool_name, created_at, body, signature
      )
      select r.id, s, r.organization_id, 1, 'ACTION', case t.n % 2 when 0 then 'shell' else 'read' end,
        r.created_at,
        ${entryHeadSql({ agent_run_id: 'r.id', seq: 's', created_at: `'2026-11-20T10:30:00.000Z'`, turn: '1' })} || t.tail,
        t.signature
      from runs r
      cross join lateral generate_series(1, r.total_logs) s
      join scale_texts t on t.n = abs(hashint8(r.id * 7919 + s)::bigint) % ${TEXTS}
      where r.id between $1 and $2
      order by r.id, s`,
    values: [from, to],
  })
}
