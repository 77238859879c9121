import { expect, test } from 'vitest'
import { serveSignIn } from '../../mcp-servers/sign-in/authorization-server.ts'
import { startApp } from '../../start-app.ts'
import { expectAccessible, inBrowser } from '../visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' }))

test('an administrator adds an MCP server, signs in to it in the browser, and sees its state', async () => {
  await using remote = await serveSignIn()
  // The authorization server is another origin, to which the person goes.
  await using someone = await visit({ accept: /409 \(Conflict\)|foreign request: \S+\/authorize\?/ })
  const { page } = someone
  await someone.open('/settings/mcp-servers')
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
  expect(remote.state.forms).toMatchObject([{ grant_type: 'authorization_code' }])
  await page.getByRole('link', { name: 'Back to the MCP servers' }).click()
  await page.getByRole('cell', { name: 'Signed in' }).waitFor()
  await page.getByRole('button', { name: 'Sign in again to tickets' }).waitFor()

  remote.state.behaviour = { metadata: document => ({ ...document, authorization_endpoint: 'javascript:alert(1)' }) }
  await page.getByRole('button', { name: 'Sign in again to tickets' }).click()
  await page
    .getByRole('region', { name: /^Notifications/ })
    .getByText('Nobody can sign in to tickets')
    .waitFor()
  const { items } = (await app.call('GET', `/v1/organizations/${app.org_id}/mcp-servers`)).body
  expect(items[0].sign_in_state.status).toBe('signed_in')
})
