import { expect, test } from 'vitest'
import { startApp } from '../../start-app.ts'
import { awaitEnd } from '../await-run.ts'
import { makeRepository } from '../coding-app.ts'

test('a call of a tool that does not end in time is stopped, and the result reports it', async () => {
  await using app = await startApp({
    AGENTRUN_TOOL_CALL_SECONDS: '10',
    AGENTRUN_INIT_REPO_URL: makeRepository(),
  })
  const at = `/v1/organizations/${app.org_id}`
  await app.call('PUT', `${at}/repos/${app.repo_id}/setup-commands`, { commands: ['sleep 600'] })
  const call = { tool_name: 'shell', arguments: { command: 'true' } }
  const { status, body } = await app.call('POST', `${at}/tools/execute`, call)
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { success: false, result: null, error: expect.stringContaining('did not end within 10 s') },
  })
  expect(await awaitEnd(app, body.agent_run_id)).toMatchObject({ status: 'cancelled' })
})
