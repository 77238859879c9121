import { type App, rows } from '../start-app.ts'

/** What every answered request may leave behind: a charge, and the minute in which a token was used. Null: all of the table. */
const traces: Record<string, string | null> = { rate_windows: null, tokens: "(to_jsonb(t) - 'last_used_at')::text" }

/** Every table with a digest of all its rows, of one moment: equal before and after means that nothing was changed. */
export async function contents(app: App): Promise<Record<string, string>> {
  const tables = await rows<{ name: string }>(app, `select tablename as name from pg_tables where schemaname = 'public' order by 1`)
  const digests = tables.flatMap(({ name }) => {
    const text = name in traces ? traces[name] : 't::text'
    if (text === null) return []
    return [
      `select '${name}' as name, count(*) || ' ' || coalesce(md5(string_agg(${text}, '|' order by ${text})), '') as digest from ${name} t`,
    ]
  })
  const text = digests.join(' union all ')
  const found = await app.db.query<{ name: string; digest: string }>({ name: `contents_${text.length}`, text })
  return Object.fromEntries(found.rows.map(({ name, digest }) => [name, digest]))
}
