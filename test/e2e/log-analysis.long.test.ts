import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { startApp } from '../start-app.ts'
import { inBrowser, playbook } from './visit.ts'

const { app, visit } = await inBrowser(startApp())

test('after a confirmation the page shows why a run failed, with a link to the entry; the sandboxes are listed with their resource usage', async () => {
  const fails = `{run: "node -e 'require(\\"<b>left-pad</b>\\")'", expect_exit: 1}`
  const { id } = await createRun(app, { prompt: playbook('Break', `run: ${fails}`, 'answer: Broken.') })
  expect((await awaitEnd(app, id)).status).toBe('completed')
  await using someone = await visit({ path: `/agent/trace/${id}` })
  const { page } = someone
  await page.getByRole('button', { name: 'Analyze logs' }).click()
  const dialog = page.getByRole('dialog', { name: `Analysis of run ${id}` })
  await dialog.getByText('It creates a new run').waitFor()
  const path = `/v1/organizations/${app.org_id}/agent/runs`
  expect((await app.call('GET', path)).body.total).toBe(1)
  await dialog.getByRole('button', { name: 'Start analysis' }).click()
  const findings = dialog.getByRole('list', { name: 'Findings' })
  // The content of a log is text.
  await findings.getByText('A module is not found: <b>left-pad</b>').waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}/analysis.png` })
  await findings
    .getByRole('link', { name: `run ${id} #` })
    .first()
    .click()
  await dialog.waitFor({ state: 'hidden' })
  expect(new URL(page.url()).hash).toMatch(/^#e\d+$/)

  await page.getByRole('link', { name: 'Sandboxes' }).click()
  const row = page
    .getByRole('list', { name: 'Sandboxes, newest first' })
    .getByRole('listitem')
    .filter({ hasText: `#${id}` })
  await row.getByText('ended', { exact: true }).waitFor()
  await row
    .getByText(/\d MiB/)
    .first()
    .waitFor()
  await row.getByRole('link', { name: /^Sandbox/ }).click()
  await page.getByRole('meter', { name: 'Memory, share of the limit' }).waitFor()
  await page.getByRole('region', { name: 'Facts' }).getByText('bubblewrap').waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}/sandbox.png` })
  await page
    .getByRole('list', { name: 'Entries, oldest first' })
    .getByRole('listitem')
    .filter({ hasText: 'left-pad' })
    .getByRole('link')
    .click()
  await page.waitForURL(new RegExp(`/agent/trace/${id}.*#e\\d+$`))

  // The analysis is a run like others, with its findings as an entry.
  await someone.open(`/agent/trace/${id + 1}`)
  const entry = page.locator('[data-type=ACTION]').filter({ hasText: 'Log analysis' })
  await entry.getByRole('list', { name: 'Findings' }).getByText('A module is not found').waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}/entry.png` })
})

test('the logs of one sandbox, and of all runs of a repository, are analyzed from the pages of sandboxes', async () => {
  const { id } = await createRun(app, {
    prompt: playbook('Break again', 'run: { run: "exit 3", expect_exit: 3 }', 'answer: Broken.'),
  })
  await awaitEnd(app, id)
  await using someone = await visit({ path: '/sandboxes?kind=check' })
  const { page } = someone
  await page.getByRole('heading', { name: 'No sandbox matches' }).waitFor()
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('agent')
  const latest = page.locator('[data-sandbox-id]').first()
  await latest.getByRole('link', { name: `Run #${id}` }).waitFor()
  await page.getByRole('button', { name: 'Analyze logs' }).click()
  const many = page.getByRole('dialog', { name: 'Analyze logs' })
  await many.getByLabel('Repository').selectOption({ label: 'sample/invoice' })
  await many.getByLabel('Period').selectOption({ label: 'The last 7 days' })
  await many.getByRole('button', { name: 'Start analysis' }).click()
  await many.getByRole('list', { name: 'Findings' }).getByText('A module is not found').first().waitFor()
  await many.getByRole('button', { name: 'Close' }).click()

  await latest.getByRole('link', { name: /^Sandbox/ }).click()
  await page.getByRole('button', { name: 'Analyze logs' }).click()
  const one = page.getByRole('dialog', { name: /^Analysis of sandbox/ })
  await one.getByRole('button', { name: 'Start analysis' }).click()
  await one.getByText('exit code 3').first().waitFor()
  await one.getByRole('link', { name: /^View explanation in run/ }).click()
  await page.getByRole('region', { name: 'Answer' }).waitFor()
  const analyses = await app.call(
    'GET',
    `/v1/organizations/${app.org_id}/agent/runs?source_type=LOG_ANALYSIS`,
  )
  expect(analyses.body.total).toBe(3)
})
