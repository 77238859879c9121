import { expect, test } from 'vitest'
import { awaitEnd, awaitRun, createRun } from '../../runs/await-run.ts'
import { rows, startApp } from '../../start-app.ts'
import { inBrowser, playbook } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())

test('a command that has printed nothing yet is shown, and that it has no output', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('Silent', 'run: sleep 600', 'answer: Done.') })
  await someone.open(`/agent/trace/${run.id}`)
  const terminal = page.getByRole('region', { name: 'Terminal' })
  await terminal.getByText('$ sleep 600').waitFor()
  await terminal.getByText('No output yet').waitFor()
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: run.id })
  await awaitEnd(app, run.id)
})

test('a question names the box for the reply to who may reply, and only who can to a READER', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('Asking', 'ask: Which one?', 'answer: That one.') })
  await awaitRun(app, run.id, ({ waiting_on }) => waiting_on === 'user_input')
  await someone.open(`/agent/trace/${run.id}`)
  await page.getByText('Reply at the end of the log.').waitFor()
  await rows(app, `update memberships set role = 'READER'`)
  await page.reload()
  await page.getByText('The run continues when a member replies.').waitFor()
  expect(await page.getByText('Reply at the end of the log.').count()).toBe(0)
  expect(await page.getByRole('form', { name: 'Follow-up' }).count()).toBe(0)
})
