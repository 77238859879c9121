import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../await-run.ts'
import { startCodingApp } from '../coding-app.ts'

test('all setup commands share one timeout', async () => {
  await using app = await startCodingApp(() => ({ text: 'Done.' }))
  const setup = { commands: ['sleep 1', 'sleep 100'], timeout_seconds: 10 }
  const path = `/v1/organizations/${app.org_id}/repos/${app.repo_id}/setup-commands`
  expect((await app.call('PUT', path, setup)).status).toBe(200)
  const { id } = await createRun(app, { prompt: 'work' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'failed',
    error: {
      code: 'setup_timeout',
      message: expect.stringMatching(
        /^Setup command \d of \d was not done when the \d\d s of the setup were over/,
      ),
    },
  })
}, 60_000)
