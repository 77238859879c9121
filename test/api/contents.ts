import { type App, rows } from '../start-app.ts'

/** What every answered request may leave behind: a charge, and the minute in which a token was used. */
const traces: Record<string, string> = { rate_windows: "''", tokens: "(to_jsonb(t) - 'last_used_at')::text" }

/** Every table with a digest of all its rows: equal before and after means that nothing was changed. */
export async function contents(app: App): Promise<Record<string, string>> {
  const tables = await rows<{ name: string }>(app, `select tablename as name from pg_tables where schemaname = 'public' order by 1`)
  const result: Record<string, string> = {}
  for (const { name } of tables) {
    const text = traces[name] ?? 't::text'
    const [row] = await rows<{ digest: string }>(
      app,
      `select count(*) filter (where ${text} <> '') || ' ' || coalesce(md5(string_agg(${text}, '|' order by ${text})), '') as digest from ${name} t`,
    )
    result[name] = row?.digest ?? ''
  }
  return result
}
