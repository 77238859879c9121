import { type App, rows } from '../start-app.ts'

/** Every table with a digest of all its rows: equal before and after means that nothing was changed. */
export async function contents(app: App): Promise<Record<string, string>> {
  const tables = await rows<{ name: string }>(app, `select tablename as name from pg_tables where schemaname = 'public' order by 1`)
  const result: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await rows<{ digest: string }>(
      app,
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest from ${name} t`,
    )
    result[name] = row?.digest ?? ''
  }
  return result
}
