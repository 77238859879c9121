import pg from 'pg'

/** Returns true when the server at `url` takes connections and serves this cluster's folder. */
export async function isClusterAt(url: string, cluster: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query("select current_setting('data_directory') = $1 as ours", [cluster])
    return rows[0]?.ours === true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** Makes the database that `url` names unless it exists: a first start may have been killed just before. */
export async function ensureDatabase(url: string): Promise<void> {
  const wanted = new pg.Client({ connectionString: url })
  try {
    await wanted.connect()
    await wanted.end()
  } catch (error) {
    if ((error as { code?: string }).code !== '3D000') throw error
    await createDatabase(url)
  }
}

async function createDatabase(url: string): Promise<void> {
  const maintenance = new URL(url)
  const name = decodeURIComponent(maintenance.pathname.slice(1))
  maintenance.pathname = '/postgres'
  const client = new pg.Client({ connectionString: maintenance.href })
  await client.connect()
  try {
    await client.query(`create database ${pg.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}
