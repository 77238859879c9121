import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { rows, startApp } from '../start-app.ts'
import { createRun } from './await-run.ts'

/**
 * The budget of a change: a commit that adds one states why it is worth it. Each names its organization
 * first.
 */
const STATEMENTS = [
  'get_organization',
  'list_organization_models',
  'get_repository',
  'list_sealed_secrets',
  'hold_repository',
  'insert_run',
  'append',
  'insert_message',
  'get_run',
  'insert_event',
  'shared_pots',
]

test('a create in the default repository sends eleven statements about its organization, and one for all notifications', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const one = '(select id from repositories where organization_id = $1)'
  await rows(app, `update organizations set default_repository_id = ${one} where id = $1`, [app.org_id])
  await createRun(app, { prompt: 'x' })
  const query = vi.spyOn(pg.Client.prototype, 'query')
  const { id } = await createRun(app, { prompt: 'x' })
  const sent = query.mock.calls.map(([what]) => Object(what) as { name?: string; values?: unknown[] })
  query.mockRestore()
  expect(sent.filter(({ values }) => values?.[0] === app.org_id).map(({ name }) => name)).toEqual(STATEMENTS)
  const notified = sent.filter(
    ({ name, values }) => name === 'notify_all' && JSON.stringify(values).includes(`"${app.org_id}:${id}"`),
  )
  expect(notified).toHaveLength(1)
  expect(sent.filter(({ name }) => name === 'notify_all')).toHaveLength(1)
})
