import { expect, test } from 'vitest'
import { addOrganization } from '../../api/access/second-organization.ts'
import { addPerson } from '../../api/members/people.ts'
import { serveSignIn } from '../../mcp-servers/sign-in/authorization-server.ts'
import { startApp } from '../../start-app.ts'
import { expectAccessible, inBrowser, type Visit } from '../visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' }))

/** The authorization server is another origin, to which the person goes. */
const away = /foreign request: \S+\/authorize\?/
const path = `/v1/organizations/${app.org_id}/mcp-servers/tickets`
const signInState = async () =>
  (await app.call('GET', `/v1/organizations/${app.org_id}/mcp-servers`)).body.items[0].sign_in_state

/** Returns the page of the authorization server that the person with this token sends to somebody. */
async function begin(remote: Awaited<ReturnType<typeof serveSignIn>>, token = app.token): Promise<string> {
  await app.call('PUT', path, { url: remote.url, sign_in: { client_id: null, issuer: null, scope: null } })
  return (await app.call('POST', `${path}/sign-in`, undefined, { authorization: `Bearer ${token}` })).body
    .authorization_url
}

/** Signs in to the service by a token on its sign-in page. */
async function signInWith({ page }: Visit, token: string) {
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('an administrator adds an MCP server, signs in to it in the browser, and sees its state', async () => {
  await using remote = await serveSignIn()
  await using someone = await visit({
    accept: /409 \(Conflict\)|foreign request: \S+\/authorize\?/,
    path: '/settings/mcp-servers',
  })
  const { page } = someone
  await page.getByRole('button', { name: 'Add server' }).click()
  await page.getByLabel('Name').fill('tickets')
  await page.getByLabel('Kind').selectOption('address')
  await page.getByLabel('Address').fill(remote.url)
  await page.getByLabel('Credential').selectOption('sign_in')
  expect(await page.getByLabel('Client secret').count()).toBe(0)
  await page.getByRole('button', { name: 'Save server' }).click()
  await page.getByRole('cell', { name: 'Not signed in' }).waitFor()
  await expectAccessible(someone, 'a server to sign in to')
  await page.getByRole('button', { name: 'Sign in to tickets' }).click()
  await page.getByText('You are signed in to tickets.').waitFor()
  expect(page.url()).toBe(`${app.base_url}/mcp-sign-in`)
  await expectAccessible(someone, 'a completed sign-in')
  expect(remote.state.forms).toMatchObject([{ grant_type: 'authorization_code' }])
  await page.getByRole('link', { name: 'Back to the MCP servers' }).click()
  await page.getByRole('cell', { name: 'Signed in' }).waitFor()
  await page.getByRole('button', { name: 'Sign in again to tickets' }).waitFor()
  // The response was used, and is no longer stored.
  await someone.open('/mcp-sign-in')
  await page.getByText('This address has no response of an authorization server.').waitFor()

  await someone.open('/settings/mcp-servers')
  remote.state.behaviour = {
    metadata: document => ({ ...document, authorization_endpoint: 'javascript:alert(1)' }),
  }
  await page.getByRole('button', { name: 'Sign in again to tickets' }).click()
  await page
    .getByRole('region', { name: /^Notifications/ })
    .getByText('Nobody can sign in to tickets')
    .waitFor()
  expect((await signInState()).status).toBe('signed_in')
})

test('a person to whom an administrator of another organization sends the link connects nothing', async () => {
  await using remote = await serveSignIn()
  const link = await begin(remote)
  const stranger = await addOrganization(app, 'Strangers')
  await using bob = await visit({
    signed_in: false,
    accept: /status of 40[13]|foreign request: \S+\/authorize\?/,
  })
  const { page } = bob
  // He allows the access at the authorization server, which sends him back.
  await page.goto(link)
  await page.getByText('You are not signed in to this service.').waitFor()
  await expectAccessible(bob, 'a sign-in without a session')
  expect(remote.state.forms).toEqual([])
  await page.getByRole('link', { name: 'Sign in to this service' }).click()
  expect(page.url()).not.toContain('code-')
  await signInWith(bob, stranger.token)
  await page.getByRole('alert').filter({ hasText: 'You do not have access to this organization.' }).waitFor()
  expect(remote.state.forms).toEqual([])
  expect((await signInState()).status).toBe('signed_out')

  // It is still open for the person who began.
  await using admin = await visit({ accept: away })
  await admin.page.goto(link)
  await admin.page.getByText('You are signed in to tickets.').waitFor()
})

test('a member of the same organization who may not set the server connects nothing', async () => {
  await using remote = await serveSignIn()
  const link = await begin(remote)
  const member = await addPerson(app, 'MEMBER')
  await using someone = await visit({
    signed_in: false,
    accept: /status of 40[13]|foreign request: \S+\/authorize\?/,
  })
  await someone.page.goto(link)
  await someone.page.getByRole('link', { name: 'Sign in to this service' }).click()
  await signInWith(someone, member.token)
  await someone.page
    .getByRole('alert')
    .filter({ hasText: 'org:admin, which your role MEMBER does not have' })
    .waitFor()
  expect(remote.state.forms).toEqual([])
})

test('another administrator sees what is connected to what, and connects it only by a confirmation', async () => {
  await using remote = await serveSignIn()
  const eve = await addPerson(app, 'ADMIN')
  await using someone = await visit({ accept: away })
  const { page } = someone
  await page.goto(await begin(remote, eve.token))
  await page.getByText(`Connect tickets of My organization to ${new URL(remote.issuer).host}?`).waitFor()
  await page.getByText('Another person began this sign-in.').waitFor()
  await page.getByText(remote.url).waitFor()
  await expectAccessible(someone, 'the confirmation of a sign-in')
  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  expect(remote.state.forms).toEqual([])

  await page.goto(await begin(remote, eve.token))
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByText('You are signed in to tickets.').waitFor()
  expect(remote.state.forms).toHaveLength(1)
  expect((await signInState()).status).toBe('signed_in')
})

test('what the authorization server refuses is shown as text', async () => {
  await using remote = await serveSignIn()
  const state = new URL(await begin(remote)).searchParams.get('state') ?? ''
  await using someone = await visit()
  const query = new URLSearchParams({
    state,
    error: 'access_denied',
    error_description: '<img src=x onerror=alert(1)>',
  })
  await someone.open(`/mcp-sign-in?${query}`)
  await someone.page.getByRole('alert').filter({ hasText: 'access_denied: <img src=x' }).waitFor()
  expect((await signInState()).problem).toContain('access_denied')
})
