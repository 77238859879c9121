import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startForgeApp } from '../api/repositories/proposals.ts'
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
  await button(page, 'Merge into main').click()
  await badge(page, 'merged').waitFor()
  for (const name of ['Merge', 'Close', 'Reopen']) expect(await button(page, name).count()).toBe(0)
  expect(app.git('rev-parse', 'main^2')).toBe(pr.head_sha)
})

test('changes by others appear without a reload', async () => {
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

test('a merge that is not possible shows the reason, and so does a merge of an unseen change', async () => {
  // The browser writes refused requests to its console.
  await using someone = await visit({ accept: /status of 409/ })
  const { page } = someone
  const pr = await app.propose({ 'a.txt': 'theirs\n' })
  app.put('main', { 'a.txt': 'ours\n' })
  await someone.open(`/agent/trace/${pr.run_id}?view=answer`)
  await button(page, 'Merge').click()
  await button(page, 'Merge into main').click()
  await page.getByRole('alert').getByText('It conflicts with main in "a.txt".').waitFor()
  await page.getByText('Conflicts with main, as of the last fetch').waitFor()
  await button(page, 'Merge').click()
  // A head without a change of its own would count as squashed by the commit on main, if both have the same
  // second.
  const head_sha = app.put(pr.branch, { 'a.txt': 'ours\n', 'c.txt': 'more\n' })
  await button(page, 'Merge into main').click()
  await page.getByRole('alert').getByText(`is at ${head_sha} now`).waitFor()
  await button(page, 'Merge').click()
  await button(page, 'Merge into main').click()
  await badge(page, 'merged').waitFor()
})

test('a reader sees why the actions are disabled', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'read-only.txt': 'x\n' })
  await rows(app, `update memberships set role = 'READER'`)
  try {
    await someone.open(`/agent/trace/${pr.run_id}?view=answer`)
    await badge(page, 'open').waitFor()
    for (const name of ['Merge', 'Close'])
      await page.locator('button[aria-description*=READER]', { hasText: name }).first().waitFor()
  } finally {
    await rows(app, `update memberships set role = 'ADMIN'`)
  }
})

test('the card shows commits, the clone command and comments, and new comments appear by themselves', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'comment.txt': 'x\n' })
  const comments = `/v1/organizations/${app.org_id}/prs/${pr.id}/comments`
  await app.call('POST', comments, {
    body: '**Why** <img src=x onerror=alert(1)> [here](javascript:alert(1))?',
    path: 'comment.txt',
    line: 1,
  })
  await someone.open(`/agent/trace/${pr.run_id}?view=answer`)
  const comments_region = page.getByRole('region', { name: 'Comments' })
  await comments_region.getByText('comment.txt:1').waitFor()
  await comments_region.locator('strong', { hasText: 'Why' }).waitFor()
  expect(await comments_region.locator('img, a[href^=javascript]').count()).toBe(0)
  expect(await page.getByTestId('clone').textContent()).toBe(
    `git clone --branch ${pr.branch} ${app.base_url}/git/${app.org_id}/${app.repo_id}.git`,
  )
  await page.getByText('Commits', { exact: true }).click()
  await page.getByRole('list', { name: 'Commits' }).getByText(`change ${pr.branch}`).waitFor()

  await page.getByRole('textbox', { name: 'Comment for people' }).fill('Looks right to me.')
  await button(page, 'Comment').click()
  const mine = comments_region.getByRole('listitem').filter({ hasText: 'Looks right to me.' })
  await mine.waitFor()
  await expect.poll(() => page.getByRole('textbox', { name: 'Comment for people' }).inputValue()).toBe('')
  await app.call('POST', comments, { body: 'Added on the forge.' })
  await comments_region.getByText('Added on the forge.').waitFor()
  await comments_region.getByText('Comments (3)').waitFor()

  await mine.getByRole('button', { name: 'Delete this comment' }).click()
  await button(page, 'Confirm deletion').click()
  await comments_region.getByText('Comments (2)').waitFor()
  expect((await app.call('GET', comments)).body.items.map((item: { body: string }) => item.body)).toContain(
    'Added on the forge.',
  )
  expect(await mine.count()).toBe(0)

  await button(page, 'Convert to draft').click()
  await badge(page, 'draft').waitFor()
  await app.call('PATCH', `/v1/organizations/${app.org_id}/prs/${pr.id}`, { title: 'Reworded' })
  await page.getByText('Reworded').first().waitFor()
})
