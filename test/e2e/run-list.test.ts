import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { rows, startApp } from '../start-app.ts'
import { inBrowser, playbook } from './visit.ts'

const { app, visit } = await inBrowser(startApp())

test('the list of a fresh start is empty and offers the sample', async () => {
  await using someone = await visit()
  const { page } = someone
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
  await page.getByRole('link', { name: 'Try it on the sample repository' }).click()
  await page.getByRole('textbox', { name: 'What should the agent do?' }).waitFor()
  expect(await page.getByRole('textbox', { name: 'What should the agent do?' }).inputValue()).toContain('```playbook')
})

test('a run created through the API appears, and changes, without a reload', async () => {
  await using someone = await visit()
  const { page } = someone
  await page.evaluate('window.not_reloaded = true')
  const run = await createRun(app, { prompt: playbook('Created by curl', 'run: "true"', 'answer: Done.'), tags: ['from-api'] })
  const row = page.locator(`[data-run-id="${run.id}"]`)
  await row.getByText('Created by curl').waitFor()
  await row.getByText('from-api').waitFor()
  await row.getByText('completed').waitFor()
  await row.getByText('scripted').waitFor()
  expect(await page.evaluate('window.not_reloaded')).toBe(true)
  await row.getByText('from-api').click()
  await page.waitForURL(/tag=from-api/)
  await page.getByTitle('Remove this filter').click()
  await page.waitForURL(`${app.base_url}/`)
})

test('filters are in the address, apply to what comes in live, and survive a reload', async () => {
  await using someone = await visit()
  const { page } = someone
  const failing = await createRun(app, { prompt: playbook('This one fails', 'run: "false"') })
  await awaitEnd(app, failing.id)
  await page.getByLabel('Status').selectOption('failed')
  await page.getByLabel('Text in title or prompt').fill('one fails')
  await page.waitForURL(/status=failed/)
  await page.waitForURL(/q=one(\+|%20)fails/)
  await page.locator(`[data-run-id="${failing.id}"]`).waitFor()
  expect(await page.locator('[data-run-id]').count()).toBe(1)
  const second = await createRun(app, { prompt: playbook('Another one fails', 'run: "false"') })
  await page.locator(`[data-run-id="${second.id}"]`).waitFor()
  await page.reload()
  await page.locator(`[data-run-id="${second.id}"]`).waitFor()
  expect(await page.getByLabel('Text in title or prompt').inputValue()).toBe('one fails')
  expect(await page.locator('[data-run-id]').count()).toBe(2)
  await page.getByLabel('Text in title or prompt').fill('nothing is called like this')
  await page.getByRole('heading', { name: 'No run matches' }).waitFor()
  await page.getByRole('link', { name: 'Remove all filters' }).click()
  await page.getByText('Created by curl').waitFor()
})

test('an archived run leaves the list and is found among the archived', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('To be archived', 'answer: Done.') })
  await awaitEnd(app, run.id)
  const row = page.locator(`[data-run-id="${run.id}"]`)
  await row.waitFor()
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/archive`, { agent_run_id: run.id })
  await row.waitFor({ state: 'detached' })
  await page.getByText('Archived', { exact: true }).click()
  await row.waitFor()
})

test('a long list is loaded in pages, newest first', async () => {
  await using someone = await visit()
  const { page } = someone
  await rows(
    app,
    `insert into runs (organization_id, user_id, title, prompt, tags, model, agent_type, source_type, status, runnable_at)
     select organization_id, user_id, 'Bulk ' || n, 'x', '{bulk}', model, agent_type, source_type, 'completed', null
     from runs, generate_series(1, 120) n where id = (select min(id) from runs)`,
  )
  await someone.open('/?tag=bulk')
  await page.getByText('Bulk 120', { exact: true }).waitFor()
  expect(await page.locator('[data-run-id]').count()).toBe(50)
  await page.getByRole('button', { name: 'Load 50 older runs' }).click()
  await page.getByText('Bulk 21', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Load 20 older runs' }).click()
  await page.getByText('Bulk 1', { exact: true }).waitFor()
  expect(await page.locator('[data-run-id]').count()).toBe(120)
})
