import { expect, test } from 'vitest'
import { createRun } from '../../runs/await-run.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser } from '../visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' }))

test('a person changes the name and the instructions for agents; an invalid GitHub username is refused at its field', async () => {
  await using someone = await visit({ accept: /status of 400/, path: '/' })
  const { page } = someone
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Your profile' }).click()
  const form = page.getByRole('form', { name: 'Profile' })
  await form.getByLabel('Name', { exact: true }).fill('Ada Lovelace')
  await form.getByLabel('GitHub username').fill('not a name')
  await form.getByLabel('Instructions for agents').fill('Answer in French.')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByLabel('GitHub username').and(page.locator('[aria-invalid=true]')).fill('ada')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: /^Account.*Ada Lovelace/ }).waitFor()
  const me = { full_name: 'Ada Lovelace', github_username: 'ada', custom_prompt: 'Answer in French.' }
  expect((await app.call('GET', '/v1/users/me')).body).toMatchObject(me)
})

test('values that are not saved are kept until the person confirms that they are discarded', async () => {
  await using someone = await visit({ accept: /^dialog: / })
  const { page } = someone
  const form = page.getByRole('form', { name: 'Organization' })
  const name = form.getByLabel('Name', { exact: true })
  const members = page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Members' })
  const dialog = page.getByRole('dialog', { name: 'Discard your changes?' })
  await someone.open('/settings')
  const saved = await name.inputValue()
  await name.fill('Never saved')
  await members.click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await name.inputValue()).toBe('Never saved')
  const [native] = await Promise.all([
    page.waitForEvent('dialog'),
    page.reload({ timeout: 1 }).catch(() => {}),
  ])
  expect(native.type()).toBe('beforeunload')
  expect(await name.inputValue()).toBe('Never saved')
  await members.click()
  await dialog.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor()
  await page.goBack()
  expect(await name.inputValue()).toBe(saved)

  await name.fill(`${saved}, renamed`)
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).first().waitFor()
  await members.click()
  await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor()
  expect(await dialog.isVisible()).toBe(false)
})

test('changed values in the configuration of a run need a confirmation before another view is shown', async () => {
  await using someone = await visit()
  const { page } = someone
  const { id } = await createRun(app, { prompt: 'To configure' })
  await someone.open(`/agent/trace/${id}?view=config`)
  const title = page.getByRole('tabpanel', { name: 'Config' }).getByLabel('Title')
  await title.fill('Never saved')
  await page.getByRole('tab', { name: 'Files' }).click()
  const dialog = page.getByRole('dialog', { name: 'Discard your changes?' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await title.inputValue()).toBe('Never saved')
  await page.getByRole('tab', { name: 'Files' }).click()
  await dialog.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByRole('tabpanel', { name: 'Files' }).waitFor()
  await page.getByRole('tab', { name: 'Config' }).click()
  expect(await title.inputValue()).toBe('To configure')
})

test('signing out in one tab ends the others with their next request', async () => {
  await using someone = await visit({ accept: /status of 401/, path: '/' })
  const { page } = someone
  const other = await page.context().newPage()
  await other.goto(`${app.base_url}/settings`)
  await other.getByRole('heading', { level: 1, name: 'General' }).waitFor()
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await other.getByRole('link', { name: 'Tokens' }).click()
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('an ADMIN creates an organization, whose page opens, and switches back', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  const menu = page.getByRole('button', { name: /^Organization/ })
  await menu.filter({ hasText: 'My organization' }).waitFor()
  const before = (await menu.textContent())?.replace('Organization: ', '') ?? ''
  await menu.click()
  await page.getByRole('menuitem', { name: 'New organization' }).click()
  const dialog = page.getByRole('dialog', { name: 'New organization' })
  await dialog.getByLabel('Name').fill('Acme Research')
  await dialog.getByRole('button', { name: 'Create organization' }).click()
  await menu.filter({ hasText: 'Acme Research' }).waitFor()
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
  await page.reload()
  await menu.filter({ hasText: 'Acme Research' }).click()
  await page.getByRole('menuitemradio', { name: before }).click()
  await menu.filter({ hasText: before }).waitFor()
})
