import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { startApp } from '../start-app.ts'
import { inBrowser } from './visit.ts'

type Operation = {
  operationId: string
  summary: string
  'x-alias-of'?: string
  parameters: { name: string }[]
  responses: Record<string, unknown>
}
type Document = { paths: Record<string, Record<string, Operation>> }

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' }))
let operations: { path: string; method: string; operation: Operation }[]
beforeAll(async () => {
  const { paths } = (await (await fetch(`${app.base_url}/openapi.json`)).json()) as Document
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
})

const signed_out = { signed_in: false } as const
const sideways = (page: Page) => page.evaluate('document.documentElement.scrollWidth - innerWidth')

test('/docs is public, with or without a browser', async () => {
  const response = await fetch(`${app.base_url}/docs`)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
})

test('it opens without a session and requests none', async () => {
  await using someone = await visit(signed_out)
  const { page } = someone
  const requested: string[] = []
  page.on('request', request => requested.push(new URL(request.url()).pathname))
  await someone.open('/docs')
  await page.getByRole('heading', { name: 'Agent Run Service' }).waitFor()
  await page.getByRole('strong').filter({ hasText: 'Stability.' }).waitFor()
  expect(requested).toContain('/openapi.json')
  expect(requested.filter(path => path.startsWith('/v1') || path.startsWith('/session'))).toEqual([])
})

test('every operation of the document is listed, and shown with its paths, parameters and refusals', async () => {
  await using someone = await visit(signed_out)
  const { page } = someone
  await someone.open('/docs')
  await page.getByRole('navigation', { name: 'Operations' }).waitFor()
  const own = operations.filter(({ operation }) => operation['x-alias-of'] === undefined)
  expect(own.length).toBeGreaterThan(20)
  for (const { path, method, operation } of own) {
    await page.evaluate(`location.hash = ${JSON.stringify(operation.operationId)}`)
    const article = page.getByRole('article', { name: operation.summary, exact: true })
    await article.getByText(path, { exact: true }).first().waitFor()
    await article.locator('.prose li').first().waitFor()
    const text = await article.textContent()
    expect(text).toContain(method)
    for (const alias of operations.filter(
      other => other.operation['x-alias-of'] === path && other.method === method,
    ))
      expect(text).toContain(alias.path)
    for (const { name } of operation.parameters) expect(text).toContain(name)
    const statuses = await article.locator('tbody td:first-child').allInnerTexts()
    expect(statuses).toEqual(
      Object.keys(operation.responses).flatMap(status =>
        status === '200' ? [] : status.replace('default', 'others'),
      ),
    )
    expect(await page.locator('nav a[aria-current=page]').textContent()).toContain(operation.summary)
  }
})

test('a link leads to one operation; its fields open down to the last, and back leads out of it', async () => {
  await using someone = await visit(signed_out)
  const { page } = someone
  await someone.open('/docs#getAgentRunLogs')
  await page.getByRole('heading', { level: 1, name: 'Retrieve agent run logs' }).waitFor()
  expect(await page.title()).toContain('Retrieve agent run logs')
  await page.getByText('alpha', { exact: true }).first().waitFor()
  await page.getByText('Fields of logs').click()
  await page.locator('[data-field=logs] [data-field=tool_output]').waitFor()
  await page.getByRole('link', { name: 'Create an agent run' }).click()
  await page.waitForURL(/#createAgentRun$/)
  await page.getByRole('heading', { level: 1, name: 'Create an agent run' }).waitFor()
  await page.getByText('Fields of budget').first().click()
  await page.locator('[data-field=budget] [data-field=max_steps]').first().waitFor()
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Retrieve agent run logs' }).waitFor()
  await someone.open('/docs#noSuchOperation')
  await page.getByText('There is no operation called noSuchOperation').waitFor()
})

test('the keyboard is enough: / searches, Enter opens the first that is found', async () => {
  await using someone = await visit(signed_out)
  const { page } = someone
  await someone.open('/docs')
  const nav = page.getByRole('navigation', { name: 'Operations' })
  await nav.waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('remote stop')
  await page.getByText('No operation matches').waitFor()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('stopagentrun')
  await nav.getByRole('link').first().filter({ hasText: 'Stop an agent run' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Stop an agent run' }).waitFor()
})

test('the command can be copied, has the address of this service, and no token in it', async () => {
  await using someone = await visit({ ...signed_out, permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = someone
  await someone.open('/docs#stopAgentRun')
  await page.getByRole('button', { name: 'Copy: A curl command' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const command = await page.evaluate('navigator.clipboard.readText()')
  expect(command).toContain(`'${app.base_url}/v1/organizations/1/agent/run/stop'`)
  expect(command).toContain('Bearer $AGENTRUN_TOKEN')
})

test('at 380 px nothing scrolls sideways, and the list of operations opens and closes by itself', async () => {
  await using someone = await visit({ ...signed_out, viewport: { width: 380, height: 780 } })
  const { page } = someone
  await someone.open('/docs')
  await page.getByRole('heading', { name: 'Agent Run Service' }).waitFor()
  expect(await sideways(page)).toBe(0)
  await page.getByText('All operations').click()
  await page
    .getByRole('navigation', { name: 'Operations' })
    .getByRole('link', { name: 'Create an agent run' })
    .click()
  await page.getByRole('heading', { level: 1, name: 'Create an agent run' }).waitFor()
  expect(await page.getByRole('navigation', { name: 'Operations' }).count()).toBe(0)
  for (const summary of await page.locator('main summary').all()) await summary.click()
  await page.locator('[data-field=budget] [data-field=max_steps]').first().waitFor()
  expect(await sideways(page)).toBe(0)
})

test('it follows the theme, and every control has a name and is at least 24 px in both directions', async () => {
  await using someone = await visit({ ...signed_out, colorScheme: 'dark' })
  const { page } = someone
  await someone.open('/docs#createAgentRun')
  await page.getByRole('article').waitFor()
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  const dark = await background()
  await page.getByRole('button', { name: 'Theme: system. Change to light' }).click()
  expect(await background()).not.toBe(dark)
  type Control = {
    ariaLabel: string | null
    textContent: string
    outerHTML: string
    getBoundingClientRect(): { width: number; height: number }
  }
  const controls = await page
    .locator('button:visible, input:visible, summary:visible, nav a:visible')
    .evaluateAll((all: Control[]) =>
      all.map(control => {
        const { width, height } = control.getBoundingClientRect()
        return {
          name: control.ariaLabel || control.textContent,
          small: Math.min(width, height) < 24,
          html: control.outerHTML,
        }
      }),
    )
  expect(controls.length).toBeGreaterThan(20)
  expect(controls.filter(({ name, small }) => !name || small)).toEqual([])
})

test('the sign-in page and every page of the interface lead to it', async () => {
  {
    await using stranger = await visit(signed_out)
    await stranger.open('/sign-in')
    await stranger.page.getByRole('link', { name: 'API reference' }).click()
    await stranger.page.getByRole('heading', { name: 'Agent Run Service' }).waitFor()
  }
  await using someone = await visit({ path: '/' })
  await someone.page.getByRole('link', { name: 'API reference' }).click()
  await someone.page.getByRole('heading', { name: 'Agent Run Service' }).waitFor()
  await someone.page.getByRole('link', { name: 'Runs', exact: true }).click()
  await someone.page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
})
