import { afterAll, expect, test } from 'vitest'
import { addOrganization } from '../api/access/second-organization.ts'
import { addPerson } from '../api/members/people.ts'
import { startFakeGitHub } from '../forge/fake-github.ts'
import { rows, startApp } from '../start-app.ts'
import { expectAccessible, inBrowser } from './visit.ts'

const github = await startFakeGitHub()
afterAll(async () => {
  await github[Symbol.asyncDispose]()
  expect(github.mistakes).toEqual([])
})
const { app, visit } = await inBrowser(
  startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' }),
)

test('GitHub is connected with a token: a refused one shows the reason, a valid one its account, and a disconnected one is removed', async () => {
  await using someone = await visit({ accept: /status of 400/, path: '/' })
  const { page } = someone
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Integrations' }).click()
  await page.getByRole('heading', { name: 'Not connected yet' }).waitFor()
  const form = page.getByRole('form', { name: 'Connect with a token' })
  const [address, token, connect] = [
    form.getByLabel('Address'),
    form.getByLabel('Token'),
    form.getByRole('button', { name: 'Connect' }),
  ]
  expect(await address.inputValue()).toBe('https://github.com')
  expect(await connect.getAttribute('aria-description')).toBe('Enter a token first')
  await address.fill(`${github.url}/with/a/path`)
  await token.fill('wrong')
  await connect.click()
  await form.getByText('must be the address of the forge itself').waitFor()
  await address.fill(github.url)
  await connect.click()
  const item = page.getByRole('region', { name: 'Connections' }).getByRole('listitem', { name: github.url })
  await item.getByText('Not working', { exact: true }).waitFor()
  await item.getByText('GitHub responded with 401: Bad credentials').waitFor()
  await form.getByText('It is not shown again').waitFor()
  expect(await token.inputValue()).toBe('')

  await token.fill(github.token)
  await connect.click()
  await item.getByText('Working', { exact: true }).waitFor()
  await item.getByText('Token, as agent-bot · not used yet').waitFor()
  await app.call('POST', `/v1/organizations/${app.org_id}/repos`, { url: `${github.url}/acme/app.git` })
  await rows(app, 'update forges set used_at = now()')
  await someone.open('/settings/integrations')
  await item.getByText('last used').waitFor()
  await item.getByRole('button', { name: 'Disconnect' }).click()
  const question = page.getByRole('dialog', { name: `Disconnect ${github.url}` })
  await question.getByRole('button', { name: 'Cancel' }).click()
  await item.getByRole('button', { name: 'Disconnect' }).click()
  await question.getByRole('button', { name: 'Disconnect' }).click()
  await page.getByRole('heading', { name: 'Not connected yet' }).waitFor()
  expect(await rows(app, 'select 1 from forges')).toEqual([])
})

test('an app is created on GitHub, and is connected when the person returns; Gitea needs an address', async () => {
  await using someone = await visit({ path: '/settings/integrations' })
  const { page } = someone
  // A focus of the tab refetches nothing while the first request is in flight.
  await page.getByRole('heading', { name: 'Not connected yet' }).waitFor()
  const form = page.getByRole('form', { name: 'Create a GitHub App' })
  await form.getByLabel('Address of GitHub').fill(github.url)
  await form.getByLabel('Organization on GitHub').fill('acme')
  await form.getByRole('button', { name: 'Create app' }).click()
  const link = form.getByRole('link', { name: 'Continue on GitHub' })
  const state = new URL((await link.getAttribute('href')) ?? '').searchParams.get('state') ?? ''
  const back = `/github-app?${new URLSearchParams({ state, code: 'code-of-the-manifest' })}`
  const tab = await page.context().newPage()
  await tab.goto(app.base_url + back)
  await tab.getByText('careful-agent is connected.').waitFor()
  expect(await tab.getByRole('link', { name: 'Install it' }).getAttribute('href')).toBe(
    `${github.url}/apps/careful-agent/installations/new`,
  )
  expect(tab.url()).toBe(`${app.base_url}/github-app`)
  await expectAccessible({ page: tab }, 'a connected app')
  await tab.close()
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
  const item = page.getByRole('listitem', { name: github.url })
  await item.getByText('GitHub App, as careful-agent[bot] · not used yet').waitFor()

  const by_token = page.getByRole('form', { name: 'Connect with a token' })
  await by_token.getByLabel('Forge').selectOption('gitea')
  expect(await by_token.getByLabel('Address').inputValue()).toBe('')
  expect(await by_token.getByRole('button').getAttribute('aria-description')).toBe('Enter the address first')
})

test('an app is connected by an administrator alone, and by one who did not begin it after a confirmation', async () => {
  const begin = async (token: string) => {
    const path = `/v1/organizations/${app.org_id}/integrations/github/app`
    const body = { url: github.url, owner: 'acme', name: 'acme-agents' }
    const { open_url } = (await app.call('POST', path, body, { authorization: `Bearer ${token}` })).body
    const state = new URL(open_url).searchParams.get('state') ?? ''
    return `/github-app?${new URLSearchParams({ state, code: 'code-of-the-manifest' })}`
  }
  const connected = () =>
    rows(
      app,
      `select 1
        from audit_entries
        where action = 'forge.connected' and detail::jsonb ->> 'app_id' is not null`,
    )
  const before = await connected()
  const stranger = await addOrganization(app, 'Strangers')
  await using bob = await visit({ signed_in: false, accept: /status of 40[13]/ })
  await bob.open(await begin(app.token))
  await bob.page.getByRole('link', { name: 'Sign in to this service' }).click()
  await bob.page.getByLabel('Token').fill(stranger.token)
  await bob.page.getByRole('button', { name: 'Sign in' }).click()
  await bob.page
    .getByRole('alert')
    .filter({ hasText: 'You do not have access to this organization.' })
    .waitFor()
  expect(await connected()).toEqual(before)

  const eve = await addPerson(app, 'ADMIN')
  await using admin = await visit()
  await admin.open(await begin(eve.token))
  await admin.page.getByText('Connect My organization with the app acme-agents of acme on').waitFor()
  await expectAccessible(admin, 'the confirmation of an app')
  expect(await connected()).toEqual(before)
  await admin.page.getByRole('button', { name: 'Connect' }).click()
  await admin.page.getByText('careful-agent is connected.').waitFor()
  expect(await connected()).toHaveLength(before.length + 1)
})

test('a user who is not an ADMIN sees what is connected, and why they may not change it', async () => {
  await rows(app, `update memberships set role = 'MEMBER'`)
  try {
    await using someone = await visit({ path: '/settings/integrations' })
    const { page } = someone
    const why = 'Your role, MEMBER, can view connections but not change them'
    await page.getByText(`${why}.`).waitFor()
    const item = page.getByRole('region', { name: 'Connections' }).getByRole('listitem', { name: github.url })
    const disconnect = item.getByRole('button', { name: 'Disconnect' })
    await disconnect.click({ force: true })
    expect([
      await disconnect.getAttribute('aria-disabled'),
      await disconnect.getAttribute('aria-description'),
    ]).toEqual(['true', why])
    expect(await page.getByRole('dialog').count()).toBe(0)
    const main = page.getByRole('main')
    expect([await main.getByRole('form').count(), await main.getByRole('textbox').count()]).toEqual([0, 0])
    expect(await main.getByRole('button', { name: /^(Connect|Create app)$/ }).count()).toBe(0)
    expect(await rows(app, 'select url from forges')).toEqual([{ url: github.url }])
  } finally {
    await rows(app, `update memberships set role = 'ADMIN'`)
  }
})
