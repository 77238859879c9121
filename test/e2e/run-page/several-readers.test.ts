import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { awaitRun, createRun } from '../../runs/await-run.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser, playbook, untilStatus } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())
const path = `${app.base_url}/v1/organizations/${app.org_id}/agent/run`
const token = ['-H', `authorization: Bearer ${app.token}`]

/**
 * The stream of a run as curl receives it. `until` resolves with the numbers of all entries when entry `last`
 * has arrived.
 */
function followByCurl(run_id: number) {
  const curl = spawn('curl', ['-sN', ...token, `${path}/${run_id}/events`])
  return {
    async until(last: number): Promise<number[]> {
      let received = ''
      for await (const chunk of curl.stdout) {
        received += chunk
        const seqs = [...received.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))
        if (seqs.includes(last)) return seqs
      }
      throw new Error(`the stream ended: ${received.slice(-500)}`)
    },
    [Symbol.dispose]: () => void curl.kill(),
  }
}

const seqsIn = (page: Page) =>
  page
    .getByRole('feed')
    .locator('article')
    .evaluateAll((articles: { id: string }[]) => articles.map(({ id }) => Number(id.slice(1))))

test('two browsers and a curl on one run: each sees what the others do, and all have the same entries', async () => {
  await using ada = await visit()
  await using bob = await visit()
  const run = await createRun(app, { prompt: playbook('Shared', 'ask: "Which colour?"', 'answer: "One."') })
  using stream = followByCurl(run.id)
  await Promise.all([ada, bob].map(someone => someone.open(`/agent/trace/${run.id}`)))
  await Promise.all([ada, bob].map(({ page }) => untilStatus(page, 'waiting')))
  await ada.page.getByRole('textbox', { name: 'Your answer' }).fill('Blue, from the first browser')
  await ada.page.keyboard.press('Control+Enter')
  await bob.page.getByRole('feed').getByText('Blue, from the first browser').waitFor()
  await untilStatus(bob.page, 'completed')
  await bob.page.getByRole('button', { name: 'Rename' }).click()
  await bob.page.locator('header').getByLabel('Title').fill('Renamed in the second browser')
  await bob.page.keyboard.press('Enter')
  await ada.page.getByRole('heading', { level: 1, name: 'Renamed in the second browser' }).waitFor()
  const body = JSON.stringify({
    agent_run_id: run.id,
    prompt: playbook('From curl', 'run: echo two', 'answer: "Two."'),
  })
  await promisify(execFile)('curl', [
    '-sf',
    ...token,
    '-H',
    'content-type: application/json',
    '-d',
    body,
    `${path}/resume`,
  ])
  const { total_logs } = await awaitRun(
    app,
    run.id,
    ({ status, turn }) => status === 'completed' && turn === 2,
  )
  const seqs = Array.from({ length: total_logs }, (_, index) => index + 1)
  for (const { page } of [ada, bob]) {
    await page.getByRole('feed').getByText('Two.', { exact: true }).waitFor()
    await untilStatus(page, 'completed')
    const seen = await seqsIn(page)
    // Only entries near the visible ones are in the document.
    expect(seen.length).toBeGreaterThan(5)
    expect(seen).toEqual(seqs.slice(-seen.length))
  }
  expect(await stream.until(total_logs)).toEqual(seqs)
})
