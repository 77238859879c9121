import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { startApp } from '../start-app.ts'
import { inBrowser, playbook } from './visit.ts'

const { app, visit } = await inBrowser(startApp())

test('after a confirmation the page shows why a run failed, with a link to the entry; the sandboxes are listed with their resource usage', async () => {
  const fails = `{run: "node -e 'require(\\"<b>left-pad</b>\\")'", expect_exit: 1}`
  const { id } = await createRun(app, { prompt: playbook('Break', `run: ${fails}`, 'answer: Broken.') })
  expect((await awaitEnd(app, id)).status).toBe('completed')
  await using someone = await visit()
  const { page } = someone
  await someone.open(`/agent/trace/${id}`)
  await page.getByRole('button', { name: 'Analyze the logs' }).click()
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
    .filter({ hasText: `Run ${id}` })
  await row.getByText('ended', { exact: true }).waitFor()
  await row
    .getByText(/\d MiB/)
    .first()
    .waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}/sandboxes.png` })
  await row.getByRole('link').click()
  await page.getByRole('button', { name: 'Analyze the logs' }).waitFor()

  // The analysis is a run like others, with its findings as an entry.
  await someone.open(`/agent/trace/${id + 1}`)
  const entry = page.locator('[data-type=ACTION]').filter({ hasText: 'log_analysis' })
  await entry.getByRole('list', { name: 'Findings' }).getByText('A module is not found').waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}/entry.png` })
})
