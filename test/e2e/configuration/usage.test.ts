import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { awaitEnd, awaitRun, createRun } from '../../runs/await-run.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser, playbook } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())

const proposed = await createRun(app, {
  prompt: playbook('Change', 'write: { path: "a.txt", content: "x" }', 'answer: Done.'),
})
await awaitEnd(app, proposed.id)
// A second turn of the same run.
const again = { agent_run_id: proposed.id, prompt: playbook('Again', 'answer: Done again.') }
await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, again)
await awaitRun(app, proposed.id, ({ turn, terminal }) => turn === 2 && terminal)
const failed = await createRun(app, { prompt: playbook('Fail', 'run: "exit 1"', 'answer: Done.') })
await awaitEnd(app, failed.id)

test('the usage shows success and the time to a pull request per group and in total, and is saved as CSV', async () => {
  await using someone = await visit({ acceptDownloads: true, path: '/usage' })
  const { page } = someone
  const table = page.getByRole('table')
  for (const column of [
    'Runs',
    'Turns completed',
    'Turns failed',
    'Success',
    'Pull requests',
    'To pull request',
  ])
    await table.getByRole('columnheader', { name: column }).waitFor()
  const total = table.getByRole('row', { name: /^Total/ })
  // Two runs, of which one has a second turn.
  const numbers = await total.getByRole('cell').allTextContents()
  expect(numbers.slice(0, 4)).toEqual(['2', '2', '1', '67 %'])
  await page.getByText('Success is the share of completed turns').waitFor()
  expect(await total.getByRole('cell').nth(4).textContent()).toBe('1')
  expect(await total.getByRole('cell').nth(5).textContent()).toMatch(/^\d.* m?s$/)
  await page.getByLabel('Group by').selectOption('By repository')
  await table.getByRole('cell', { name: 'sample/invoice' }).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('usage-by-repo.csv')
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split(/\r?\n/)
  expect(lines).toHaveLength(2)
  expect(lines[0]).toContain('success_rate')
})

test('a period that ends before it begins is reported beside its fields, which correct it', async () => {
  await using someone = await visit({
    accept: /400 \(Bad Request\)/,
    path: '/usage?from=2026-03-02&to=2026-03-01',
  })
  const { page } = someone
  await page.getByRole('alert').filter({ hasText: 'must not be before 2026-03-02' }).waitFor()
  await page.getByLabel('Last day').fill('2026-03-31')
  await page.getByRole('heading', { name: 'No usage in this period' }).waitFor()
  expect(new URL(page.url()).searchParams.get('to')).toBe('2026-03-31')
})
