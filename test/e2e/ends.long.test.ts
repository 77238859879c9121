// biome-ignore-all lint/suspicious/noExplicitAny: runs are read without types
import { expect, test } from 'vitest'
import { reasonNames } from '../../web/src/api/names.ts'
import { ends, startEnds } from '../runs/ends/start-ends.ts'
import { inBrowser } from './visit.ts'

const { app, visit } = await inBrowser(startEnds())

/** The runs of single tool calls are archived. */
const listed = ends.filter(({ name }) => name !== 'tool_failed')

test('the list shows every end with its reason, and a completed run with one in amber; it filters by reason', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  for (const { name, status, status_reason } of listed) {
    const row = page.locator(`[data-run-id="${app.runs.get(name).id}"]`)
    await row.waitFor()
    const badge = row.getByTestId('status').locator('..')
    const tone = status === 'failed' ? 'text-bad' : status_reason === null ? 'text-ok' : 'text-warn'
    expect({
      name,
      status: await row.getByTestId('status').textContent(),
      tone: (await badge.getAttribute('class'))?.includes(tone),
    }).toEqual({
      name,
      status,
      tone: true,
    })
    if (status_reason !== null) await row.getByText(reasonNames[status_reason], { exact: true }).waitFor()
  }
  await page.goto(`${app.base_url}/?reason=push_refused`)
  await page.locator(`[data-run-id="${app.runs.get('push_refused').id}"]`).waitFor()
  expect(await page.locator('[data-run-id]').count()).toBe(1)
})

test('the page of a run names and explains what it did not do, and offers to do it', async () => {
  await using someone = await visit({ path: `/agent/trace/${app.runs.get('pull_request_refused').id}` })
  const { page } = someone
  const header = page.locator('header').filter({ has: page.getByTestId('status') })
  await header.getByText('· pull request refused').waitFor()
  await page
    .getByText('The branch is pushed, but the forge has no pull request for it. The next turn tries again.')
    .first()
    .waitFor()
  await page
    .getByText('The branch is pushed, but its pull request could not be opened or updated on the forge')
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Publish again' }).waitFor()
  await someone.open(`/compare?a=${app.runs.get('done').id}&b=${app.runs.get('review_failed').id}`)
  await page.getByText('· review failed').first().waitFor()
})
