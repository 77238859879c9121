import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../../runs/await-run.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser, playbook } from '../visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '1' }))

test('the filter Failures shows every failure that the keys and the outline count, also in the matches of a search', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('One failure', 'run: echo first', 'run: echo second; exit 3', 'answer: Done.') })
  await awaitEnd(app, run.id)
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run.id}/logs?failed=true`)
  const failures = body.logs.map(({ seq }: { seq: number }) => `e${seq}`)
  await someone.open(`/agent/trace/${run.id}`)
  await page.getByRole('button', { name: 'Failures' }).click()
  await page.getByText(`${failures.length} found`).waitFor()
  const entries = page.getByRole('feed').getByRole('article')
  expect(await entries.evaluateAll((all: { id: string }[]) => all.map(({ id }) => id))).toEqual(failures)
  await page.locator('article[data-type=ACTION]', { hasText: 'echo second; exit 3' }).waitFor()
  await page.getByLabel('Search the trace').fill('echo')
  await page
    .getByTestId('match-count')
    .getByText(/^[12] match/)
    .waitFor()
  await page.getByRole('list', { name: 'Matches' }).getByText('echo second; exit 3').first().waitFor()
  expect(await page.getByText('echo first').count()).toBe(0)
  expect(new URL(page.url()).search).toBe('?failed=true&q=echo')
})
