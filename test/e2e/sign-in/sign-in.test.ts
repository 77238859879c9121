import { expect, test } from 'vitest'
import { createRun } from '../../runs/await-run.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())

const signed_out = /401 \(Unauthorized\)/

test('the printed link signs in, and its code leaves the address and the history', async () => {
  await using someone = await visit({ signed_in: false })
  const { page } = someone
  await page.goto(await app.signInLink())
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  expect(page.url()).toBe(`${app.base_url}/`)
  await page.goBack()
  expect(page.url()).not.toContain('code=')
})

test('the token is in memory only: no storage, no cookie that a script can read, no cookie but for /session', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  expect(
    await page.evaluate('JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])'),
  ).not.toMatch(/arun_|session/)
  const [cookie, ...others] = await page.context().cookies(`${app.base_url}/session`)
  expect(others).toEqual([])
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/session' })
})

test('a link that was used already explains itself, and a new one can be pasted', async () => {
  const link = await app.signInLink()
  {
    await using first = await visit({ signed_in: false })
    await first.page.goto(link)
    await first.page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  }
  await using second = await visit({ signed_in: false, accept: signed_out })
  const { page } = second
  await page.goto(link)
  await page.getByRole('alert').filter({ hasText: 'used already' }).waitFor()
  await page.getByLabel('paste the sign-in link').fill(await app.signInLink())
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
})

test('a visitor without a session is sent to the sign-in page and then to the requested page', async () => {
  await using someone = await visit({ signed_in: false, accept: signed_out })
  const { page } = someone
  await someone.open('/new?sample=true')
  await page.getByText('creates a sign-in link that works once').waitFor()
  const code = (await app.signInLink()).split('#code=')[1] ?? ''
  await page.getByLabel('paste the sign-in link').fill(code)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'New run' }).waitFor()
  expect(new URL(page.url()).search).toBe('?sample=true')
})

test('who follows a link to a run without a session sees the run after the sign-in', async () => {
  await using someone = await visit({ signed_in: false, accept: signed_out })
  const { page } = someone
  const { id } = await createRun(app, { prompt: 'finish: Hi', title: 'A run that was shared' })
  await someone.open(`/agent/trace/${id}`)
  await page.getByLabel('paste the sign-in link').fill(await app.signInLink())
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'A run that was shared' }).waitFor()
})

test('a sign-in page with a foreign target leads to the start page', async () => {
  await using someone = await visit({ signed_in: false, accept: signed_out })
  const { page } = someone
  await someone.open('/sign-in?next=//evil.example/')
  await page.getByLabel('paste the sign-in link').fill(await app.signInLink())
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  expect(page.url()).toBe(`${app.base_url}/`)
})

test('signing out ends the session of this browser', async () => {
  await using someone = await visit({ accept: signed_out, path: '/' })
  const { page } = someone
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await someone.open('/')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.context().cookies(`${app.base_url}/session`)).toEqual([])
})

test('an API token signs in as well, a second link in the same tab too, and an unknown text is refused', async () => {
  await using someone = await visit({ signed_in: false, accept: signed_out })
  const { page } = someone
  await someone.open('/sign-in')
  const field = page.getByLabel('paste the sign-in link')
  await field.fill('not-a-code')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').filter({ hasText: 'not a valid sign-in code or token' }).waitFor()
  await page.goto(`${app.base_url}/sign-in#code=wrong`)
  await page.getByRole('alert').filter({ hasText: 'used already' }).waitFor()
  await field.fill(app.token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
})
