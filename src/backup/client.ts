import pg from 'pg'

/** Runs `work` on one connection of its own, which ends with it. */
export async function withClient<T>(
  connection_string: string,
  name: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: connection_string, application_name: name })
  // A connection that breaks rejects its statements; without a listener it would also end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export const quotedName = (name: string) => pg.escapeIdentifier(name)
