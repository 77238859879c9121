import { expect, test } from 'vitest'
import { callsInTurn, hostile, playRun, startMcpApp } from '../../mcp-servers/mcp-app.ts'
import type { FakeScript } from '../../model/fake-server.ts'
import { calls, finish, PRICED } from '../../runs/coding-app.ts'
import { inBrowser } from '../visit.ts'

const call = { name: 'odd__act', arguments: { text: 'hello' } }
const inTurn = callsInTurn(call)
/** The model that accepts images has another format. */
const script: FakeScript = (request, n) => {
  if ('messages' in request.body) return inTurn(request, n)
  return JSON.stringify(request.body).includes('function_call_output') ? finish('Done.') : calls(call)
}
const { app, visit } = await inBrowser(startMcpApp(script))
const path = (rest: string) => `/v1/organizations/${app.org_id}${rest}`
const list = async (rest: string) => (await app.call('GET', path(rest))).body.items

test('a program is added to a repository and used by a run, whose trace shows its server, tool, arguments and result', async () => {
  await using someone = await visit({ path: `/repositories/${app.repo_id}/mcp-servers` })
  const { page } = someone
  await page.getByRole('heading', { name: 'No MCP servers yet' }).waitFor()
  await page.getByRole('button', { name: 'Add server' }).click()
  const form = page.getByRole('form', { name: 'MCP server' })
  await form.getByLabel('Name', { exact: true }).fill('odd')
  await form.getByLabel('Program').fill('node')
  await form.getByLabel('Arguments').fill('/workspace/server.mjs\ngood')
  await form.getByRole('button', { name: 'Save server' }).click()
  await page
    .getByRole('region', { name: 'MCP servers' })
    .getByText('node /workspace/server.mjs good')
    .waitFor()
  await page.getByText('Use the servers that the base commit of a run names').click()
  await page.getByText('Saved', { exact: true }).first().waitFor()
  expect((await app.call('GET', path(`/repos/${app.repo_id}`))).body.use_mcp_file).toBe(true)

  const { run } = await playRun(app)
  await someone.open(`/agent/trace/${run.id}?view=log`)
  const card = page.getByRole('feed').locator('[data-type=ACTION]').filter({ hasText: 'odd › act' })
  await card.getByRole('button').first().click()
  await card.getByText('called act with {"text":"hello"}').waitFor()
  await card.getByText('"text": "hello"').waitFor()

  await someone.open(`/repositories/${app.repo_id}/mcp-servers`)
  await page.getByRole('button', { name: 'Delete odd' }).click()
  await page.getByRole('button', { name: 'Delete server' }).click()
  await page.getByRole('heading', { name: 'No MCP servers yet' }).waitFor()
  expect(await list(`/repos/${app.repo_id}/mcp-servers`)).toEqual([])
})

test('an address gets a credential that is never shown, and keeps it when it is edited; a mistake is shown at its field', async () => {
  await using someone = await visit({ accept: /status of 400/, path: '/settings/mcp-servers' })
  const { page } = someone
  await page.getByRole('button', { name: 'Add server' }).click()
  const form = page.getByRole('form', { name: 'MCP server' })
  await form.getByLabel('Name', { exact: true }).fill('tickets')
  await form.getByLabel('Kind').selectOption('address')
  await form.getByLabel('Address').fill('ftp://mcp.example.com')
  await form.getByLabel('Credential').selectOption('bearer')
  await form.getByLabel('Token').fill('token-of-the-tickets')
  await form.getByRole('button', { name: 'Save server' }).click()
  await form.getByText('must be an http or https address').waitFor()
  await form.getByLabel('Address').fill('https://mcp.example.com/mcp')
  await form.getByRole('button', { name: 'Save server' }).click()
  await page.getByRole('button', { name: 'Edit tickets' }).click()
  expect(await page.content()).not.toContain('token-of-the-tickets')
  await form.getByLabel('Tools').fill('search\ncomment')
  await form.getByRole('button', { name: 'Save server' }).click()
  await form.waitFor({ state: 'detached' })
  expect(await list('/mcp-servers')).toMatchObject([
    { name: 'tickets', has_credential: true, tools: ['search', 'comment'] },
  ])
  await someone.open('/settings/secrets')
  await page.getByRole('link', { name: 'MCP servers' }).last().waitFor()
})

test('the images of a result are shown in the trace, and one is enlarged by a click', async () => {
  await app.servers.set('odd', hostile('image'))
  const { run } = await playRun(app, { model: PRICED.model })
  await using someone = await visit({ path: `/agent/trace/${run.id}?view=log` })
  const { page } = someone
  const card = page.getByRole('feed').locator('[data-type=ACTION]').filter({ hasText: 'odd › act' })
  await card.getByRole('button').first().click()
  await card.getByRole('img', { name: 'Image 1 of 1' }).click()
  const shown = page.getByRole('dialog', { name: 'Image 1 of 1' }).getByRole('img')
  expect(await shown.evaluate((image: { naturalWidth: number }) => image.naturalWidth)).toBe(1)
})
