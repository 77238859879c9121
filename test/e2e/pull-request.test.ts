import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startForgeApp } from '../api/proposals.ts'
import { rows } from '../start-app.ts'
import { inBrowser } from './visit.ts'

const { app, visit } = await inBrowser(startForgeApp())

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const badge = (page: Page, state: string) => page.getByRole('tabpanel').getByText(state, { exact: true })

test('a pull request is closed, reopened and merged, and its card follows', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'merged.txt': 'x\n' })
  await someone.open(`/agent/trace/${pr.run_id}?view=answer`)
  await badge(page, 'open').waitFor()
  await button(page, 'Close').click()
  await badge(page, 'closed').waitFor()
  expect(await button(page, 'Merge').getAttribute('aria-description')).toBe('It is closed')
  await button(page, 'Reopen').click()
  await badge(page, 'open').waitFor()
  await button(page, 'Merge').click()
  await button(page, 'Cancel').click()
  expect(app.git('rev-parse', 'main')).toBe(pr.base_sha)
  await button(page, 'Merge').click()
  await button(page, 'Merge into main now').click()
  await badge(page, 'merged').waitFor()
  for (const name of ['Merge', 'Close', 'Reopen']) expect(await button(page, name).count()).toBe(0)
  expect(app.git('rev-parse', 'main^2')).toBe(pr.head_sha)
})

test('changes by other users are visible without a reload', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'elsewhere.txt': 'x\n' })
  await someone.open(`/agent/trace/${pr.run_id}?view=answer`)
  await badge(page, 'open').waitFor()
  await app.call('PATCH', `/v1/organizations/${app.org_id}/prs/${pr.id}`, { state: 'draft' })
  await badge(page, 'draft').waitFor()
  expect(await button(page, 'Merge').getAttribute('aria-description')).toBe('It is a draft')
  await button(page, 'Ready for review').click()
  await badge(page, 'open').waitFor()
})

test('a merge that is impossible gives the reason, and so does one of an unread change', async () => {
  // The browser writes refused requests to its console.
  await using someone = await visit({ accept: /status of 409/ })
  const { page } = someone
  const pr = await app.propose({ 'a.txt': 'theirs\n' })
  app.put('main', { 'a.txt': 'ours\n' })
  await someone.open(`/agent/trace/${pr.run_id}?view=answer`)
  await button(page, 'Merge').click()
  await button(page, 'Merge into main now').click()
  await page.getByRole('alert').getByText('It conflicts with main in "a.txt".').waitFor()
  await page.getByText('Conflicts with main, by what was last fetched').waitFor()
  await button(page, 'Merge').click()
  const head_sha = app.put(pr.branch, { 'a.txt': 'ours\n' })
  await button(page, 'Merge into main now').click()
  await page.getByRole('alert').getByText(`is at ${head_sha} now`).waitFor()
  await button(page, 'Merge').click()
  await button(page, 'Merge into main now').click()
  await badge(page, 'merged').waitFor()
})

test('a read-only user gets the reason', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'looked-at.txt': 'x\n' })
  await rows(app, `update memberships set role = 'READER'`)
  try {
    await someone.open(`/agent/trace/${pr.run_id}?view=answer`)
    await badge(page, 'open').waitFor()
    for (const name of ['Merge', 'Close']) await page.locator('button[aria-description*=READER]', { hasText: name }).first().waitFor()
  } finally {
    await rows(app, `update memberships set role = 'ADMIN'`)
  }
})

test('commits, the command for its branch and comments are on the card, and comments of others appear automatically', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'said.txt': 'x\n' })
  const comments = `/v1/organizations/${app.org_id}/prs/${pr.id}/comments`
  await app.call('POST', comments, { body: '**Why** <img src=x onerror=alert(1)> [here](javascript:alert(1))?', path: 'said.txt', line: 1 })
  await someone.open(`/agent/trace/${pr.run_id}?view=answer`)
  const text = page.getByRole('region', { name: 'Comments' })
  await text.getByText('said.txt:1').waitFor()
  await text.locator('strong', { hasText: 'Why' }).waitFor()
  expect(await text.locator('img, a[href^=javascript]').count()).toBe(0)
  expect(await page.getByTestId('clone').textContent()).toBe(
    `git clone --branch ${pr.branch} ${app.base_url}/git/${app.org_id}/${app.repo_id}.git`,
  )
  await page.getByText('Commits', { exact: true }).click()
  await page.getByRole('list', { name: 'Commits' }).getByText(`change ${pr.branch}`).waitFor()

  await page.getByRole('textbox', { name: 'Comment for people' }).fill('Looks right to me.')
  await button(page, 'Comment').click()
  const mine = text.getByRole('listitem').filter({ hasText: 'Looks right to me.' })
  await mine.waitFor()
  await expect.poll(() => page.getByRole('textbox', { name: 'Comment for people' }).inputValue()).toBe('')
  await app.call('POST', comments, { body: 'Said elsewhere.' })
  await text.getByText('Said elsewhere.').waitFor()
  await text.getByText('Comments (3)').waitFor()

  await mine.getByRole('button', { name: 'Delete this comment' }).click()
  await button(page, 'Delete it now').click()
  await text.getByText('Comments (2)').waitFor()
  expect((await app.call('GET', comments)).body.items.map((item: { body: string }) => item.body)).toContain('Said elsewhere.')
  expect(await mine.count()).toBe(0)

  await button(page, 'Make it a draft').click()
  await badge(page, 'draft').waitFor()
  await app.call('PATCH', `/v1/organizations/${app.org_id}/prs/${pr.id}`, { title: 'Told better' })
  await page.getByText('Told better').first().waitFor()
})
