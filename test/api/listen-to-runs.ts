import pg from 'pg'
import { channels } from '../../src/store/notify.ts'
import { type App, rows } from '../start-app.ts'

const LAST = 'last'

/**
 * Listens to the notifications about runs and work. `received` returns those since its last call, or since
 * the start.
 */
export async function listenToRuns(app: App) {
  const client = new pg.Client({ connectionString: app.database_url })
  await client.connect()
  const payloads: string[] = []
  let wake = () => {}
  client.on('notification', ({ payload = '' }) => {
    payloads.push(payload)
    wake()
  })
  await client.query(`listen ${channels.run}; listen ${channels.work}`)
  return {
    async received() {
      await rows(app, `select pg_notify('${channels.run}', '${LAST}')`)
      while (!payloads.includes(LAST)) await new Promise<void>(resolve => (wake = resolve))
      const all = payloads.splice(0)
      return all.filter(payload => payload !== LAST)
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}
