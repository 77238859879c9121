import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../../runs/await-run.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser, playbook } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())

test('the whole last line is shown while a command waits, also where its end may begin a secret', async () => {
  await using someone = await visit()
  const { page } = someone
  const secret = { value: 'supersecret-value-0123456789', for_agent: true }
  expect(await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/KEY`, secret)).toMatchObject({
    status: 200,
  })
  const run = await createRun(app, {
    prompt: playbook('Waiting', 'run: echo Installing dependencies; sleep 600', 'answer: Done.'),
  })
  await someone.open(`/agent/trace/${run.id}`)
  await page
    .locator('section[aria-label=Terminal] pre', { hasText: /sleep 600\s+Installing dependencies/ })
    .waitFor()
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: run.id })
  await awaitEnd(app, run.id)
})
