import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startForgeApp } from '../api/repositories/proposals.ts'
import { rows } from '../start-app.ts'
import { inBrowser } from './visit.ts'

const { app, visit } = await inBrowser(startForgeApp())

const path = (id: number) => `/v1/organizations/${app.org_id}/prs/${id}`
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const state = (page: Page, name: string) =>
  page.getByTestId('pull-request-state').getByText(name, { exact: true }).first()

test('a person finds a pull request in the list, reads its change, comments on it and merges it', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'src/app/main.ts': 'x\n', 'src/app/ui/button.ts': 'y\n', 'a.txt': 'b\n' })
  const other = await app.propose({ 'other.txt': 'x\n' })
  await app.call('PATCH', path(other.id), { state: 'closed' })
  await someone.open('/pull-requests')
  await page.getByRole('combobox', { name: 'State' }).selectOption('open')
  await page.waitForURL(/state=open/)
  const row = page.locator(`[data-pull-request-id="${pr.id}"]`)
  await row.getByRole('link', { name: `Run #${pr.run_id}` }).waitFor()
  await row.getByText('No checks').waitFor()
  await row.getByText('No review').waitFor()
  await page.getByRole('combobox', { name: 'Review' }).selectOption({ label: 'Review passed' })
  await page.getByRole('heading', { name: 'No pull request matches' }).waitFor()
  await page.getByRole('combobox', { name: 'Review' }).selectOption({ label: 'No review' })
  expect(await page.locator(`[data-pull-request-id="${other.id}"]`).count()).toBe(0)
  await row.getByRole('link', { name: `Change ${pr.run_id}` }).click()
  await page.waitForURL(`${app.base_url}/pull-requests/${pr.id}`)
  await page.getByRole('region', { name: 'Description' }).getByText('Because.').waitFor()

  await page.getByRole('link', { name: 'Changes (3)' }).click()
  const tree = page.getByRole('navigation', { name: 'Changed files' })
  await tree.getByText('src/app', { exact: true }).waitFor()
  await tree.getByRole('button', { name: 'button.ts' }).click()
  await page.getByRole('region', { name: 'src/app/ui/button.ts' }).locator('.diff-code-insert').waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}/changes.png` })

  await page.getByRole('link', { name: 'Conversation' }).click()
  await page.getByRole('textbox', { name: 'Comment for people' }).fill('Rihgt')
  await button(page, 'Comment').click()
  const comments = page.getByRole('region', { name: 'Comments' })
  await comments.getByText('Rihgt').waitFor()
  await button(page, 'Edit this comment').click()
  await comments.getByRole('textbox', { name: 'Comment', exact: true }).fill('Right')
  await button(page, 'Save').click()
  await button(page, 'Edit this comment').waitFor()
  await comments.getByText('Right', { exact: true }).waitFor()
  expect(
    (await app.call('GET', `${path(pr.id)}/comments`)).body.items.map(({ body }: { body: string }) => body),
  ).toEqual(['Right'])

  await button(page, 'Merge').click()
  await page.getByRole('combobox', { name: 'Method' }).selectOption({ label: 'Squash' })
  await button(page, 'Merge into main').click()
  await state(page, 'merged').waitFor()
  expect(app.git('rev-list', '--parents', '-1', 'main').split(' ')).toHaveLength(2)
})

test('a comment on a line of the change is sent to the agent as a follow-up, or kept for people', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'total.ts': 'const total = 1\n' })
  await someone.open(`/pull-requests/${pr.id}/changes`)
  const file = page.getByRole('region', { name: 'total.ts' })
  await file.locator('.diff-line').first().hover()
  await file.getByRole('button', { name: 'Comment on line 1' }).click()
  const form = page.getByRole('form', { name: 'Comment on total.ts, line 1' })
  await form.getByRole('textbox').fill('Why 1?')
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}/line.png` })
  await form.getByRole('button', { name: 'Comment for people' }).click()
  await form.waitFor({ state: 'detached' })
  expect((await app.call('GET', `${path(pr.id)}/comments`)).body.items).toMatchObject([
    { body: 'Why 1?', path: 'total.ts', line: 1, side: 'RIGHT' },
  ])

  await file.getByRole('button', { name: 'Comment on total.ts' }).press('Enter')
  const whole = page.getByRole('form', { name: 'Comment on total.ts', exact: true })
  await whole.getByRole('textbox').fill('Rename it.')
  await page.reload()
  await file.getByRole('button', { name: 'Comment on total.ts' }).press('Enter')
  await whole.getByRole('button', { name: 'Send to the agent' }).click()
  await page.getByText(`Sent to run #${pr.run_id}`).first().waitFor()
  const { logs } = (
    await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${pr.run_id}/logs?reverse=true&limit=1`)
  ).body
  expect(JSON.stringify(logs)).toContain('In `total.ts`:\\n\\nRename it.')
})

test('a pull request is edited, closed, reopened, converted to draft and opened again', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'edited.txt': 'x\n' })
  await someone.open(`/pull-requests/${pr.id}`)
  await button(page, 'Edit').click()
  const dialog = page.getByRole('dialog', { name: 'Edit pull request' })
  await dialog.getByRole('textbox', { name: 'Title' }).fill('אבג')
  await dialog.getByRole('textbox', { name: 'Base branch' }).fill('nowhere')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('nowhere', { exact: false }).first().waitFor()
  await dialog.getByRole('textbox', { name: 'Base branch' }).fill('main')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { level: 1, name: 'אבג' }).waitFor()
  await dialog.waitFor({ state: 'hidden' })
  expect((await app.call('GET', path(pr.id))).body.title).toBe('אבג')
  for (const [action, next] of [
    ['Close', 'closed'],
    ['Reopen', 'open'],
    ['Convert to draft', 'draft'],
    ['Ready for review', 'open'],
  ] as const) {
    await button(page, action).click()
    await state(page, next).waitFor()
    expect((await app.call('GET', path(pr.id))).body.state).toBe(next)
  }
})

test('the merge button names failing checks, and the page shows why they fail', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'failing.txt': 'x\n' })
  await rows(
    app,
    `insert into checks (
        organization_id, repository_id, head_sha, name, source, status, conclusion, log_excerpt, attempt
      )
      values (
        ${app.org_id}, ${app.repo_id}, '${pr.head_sha}', 'test', 'local', 'completed', 'failure',
        'AssertionError: 1 !== 2', 1
      )`,
  )
  await someone.open(`/pull-requests/${pr.id}`)
  await page.getByText('1 check failing').waitFor()
  const checks = page.getByRole('region', { name: 'Checks' })
  await checks.getByText('test', { exact: true }).click()
  await checks.getByText('AssertionError: 1 !== 2').waitFor()
  await button(page, 'Merge anyway').click()
  await button(page, 'Merge into main anyway').waitFor()
  await button(page, 'Cancel').click()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}/failing.png` })
  await someone.open('/pull-requests')
  await page.locator(`[data-pull-request-id="${pr.id}"]`).getByText('1 check failing').waitFor()
})

test('the runs of a pull request are banned, the ban is lifted, and they are removed', async () => {
  await using someone = await visit()
  const { page } = someone
  const pr = await app.propose({ 'banned.txt': 'x\n' })
  const banned = async () =>
    (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${pr.run_id}`)).body.banned
  await someone.open(`/pull-requests/${pr.id}`)
  await button(page, 'Ban runs').click()
  await page.getByRole('dialog', { name: 'Ban runs' }).getByRole('button', { name: 'Ban runs' }).click()
  await button(page, 'Lift the ban').waitFor()
  expect(await banned()).toBe(true)
  await button(page, 'Lift the ban').click()
  await button(page, 'Ban runs').waitFor()
  expect(await banned()).toBe(false)
  await button(page, 'Remove runs').click()
  await page.getByRole('dialog', { name: 'Remove runs' }).getByRole('button', { name: 'Remove runs' }).click()
  await page.getByText('The run was deleted, or removed from this pull request.').waitFor()
  expect((await app.call('GET', path(pr.id))).body.agent_run_id).toBe(null)
})

test('a reader sees the pull request, and why nothing can be changed; an unknown number is reported', async () => {
  await using someone = await visit({ accept: /status of 404/ })
  const { page } = someone
  const pr = await app.propose({ 'reader.txt': 'x\n' })
  await rows(app, `update memberships set role = 'READER'`)
  try {
    await someone.open(`/pull-requests/${pr.id}`)
    for (const name of ['Edit', 'Merge', 'Close', 'Ban runs', 'Remove runs'])
      await page.locator('button[aria-description*=READER]', { hasText: name }).first().waitFor()
    expect(await page.getByRole('textbox').count()).toBe(0)
  } finally {
    await rows(app, `update memberships set role = 'ADMIN'`)
  }
  await someone.open('/pull-requests/999')
  await page.getByRole('heading', { name: 'There is no such pull request' }).waitFor()
})
