import { type App, rows } from '../start-app.ts'

const ofAttempts = [
  'attempts',
  'tries',
  'last_status',
  'last_latency_ms',
  'epoch',
  'lease_until',
  'next_attempt_at',
  'error',
]

/**
 * Rows that every request may leave behind: a charge, the use of a key, and the minute in which a token was
 * used. Forges are polled in parallel. Workers and processes report every few seconds, and acquire ticks.
 */
const traces: Record<string, { text?: string; rows?: string }> = {
  rate_windows: { rows: 'false' },
  idempotency_keys: { rows: 'answer is not null' },
  workers: { rows: 'false' },
  processes: { rows: 'false' },
  ticks: { rows: 'false' },
  tokens: { text: "(to_jsonb(t) - 'last_used_at')::text" },
  repositories: { text: "(to_jsonb(t) - 'forge_seen_at' - 'forge_seen_until')::text" },
}
/**
 * The same for further attempts of deliveries, which may be due at any time. The state of a delivery stays.
 */
const without_attempts: typeof traces = {
  ...traces,
  webhook_attempts: { rows: 'false' },
  webhook_deliveries: { text: `(to_jsonb(t) - array['${ofAttempts.join("', '")}'])::text` },
}

/** An earlier request has queued a webhook delivery of a run: its outcome is not a change by this request. */
async function nothingUnderWay(app: App): Promise<void> {
  const text = `select 1
    from webhook_deliveries
    where state = 'pending' and url is not null and (lease_until > now() or next_attempt_at <= now())`
  for (
    const end = Date.now() + 5_000;
    Date.now() < end;
    await new Promise(resolve => setTimeout(resolve, 20))
  )
    if ((await rows(app, text)).length === 0) return
}

/**
 * Every table with a digest of all its rows in one snapshot: equal before and after means that nothing
 * changed.
 */
export async function contents(app: App): Promise<Record<string, string>> {
  await nothingUnderWay(app)
  return contentsNow(app)
}

/**
 * The same without further attempts of deliveries, where earlier requests have left many that are repeated.
 */
export async function contentsWithoutAttempts(app: App): Promise<Record<string, string>> {
  await nothingUnderWay(app)
  return digestsOf(app, without_attempts)
}

/** The same without waiting for active work: for rows that a test itself inserted in that state. */
export const contentsNow = (app: App): Promise<Record<string, string>> => digestsOf(app, traces)

async function digestsOf(app: App, excluded: typeof traces): Promise<Record<string, string>> {
  const tables = await rows<{ name: string }>(
    app,
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  )
  const digests = tables.map(({ name }) => {
    const { text = 't::text', rows: kept = 'true' } = excluded[name] ?? {}
    const digest = `count(*) || ' ' || coalesce(md5(string_agg(${text}, '|' order by ${text})), '')`
    return `select '${name}' as name, ${digest} as digest from ${name} t where ${kept}`
  })
  const text = digests.join(' union all ')
  const found = await app.db.query<{ name: string; digest: string }>({
    name: `contents_${text.length}`,
    text,
  })
  return Object.fromEntries(found.rows.map(({ name, digest }) => [name, digest]))
}
