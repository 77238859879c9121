import { expect, test } from 'vitest'
import { startApp } from '../../start-app.ts'
import { networkTo } from '../network.ts'
import { inBrowser } from '../visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' }))

test('without a connection the frame stays, a page waits for the service, and a form reports it instead of sending later', async () => {
  await using network = await networkTo(app.base_url)
  await using someone = await visit({ base_url: network.base_url, accept: /ERR_|Failed to load/, path: '/' })
  const { page } = someone
  const main = page.getByRole('navigation', { name: 'Main' })
  await main.getByRole('link', { name: 'Settings' }).click()
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('Renamed')
  const document_of = () => page.evaluate('performance.timeOrigin')
  const opened = await document_of()
  network.cut()
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').filter({ hasText: 'The service does not respond' }).first().waitFor()
  await main.getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByRole('main').getByText('Loading').waitFor()
  expect(await document_of()).toBe(opened)
  network.restore()
  await page.context().setOffline(false)
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
  const { body } = await app.call('GET', `/v1/organizations`)
  expect(body.items[0].name).toBe('My organization')
})

test('a browser that loses its network reports it at once, also while its streams are still open', async () => {
  await using someone = await visit({ accept: /ERR_|Failed to load/ })
  const { page } = someone
  const notice = page.getByRole('alert').filter({ hasText: 'The service does not respond' })
  await Promise.all([page.waitForResponse(/readyz$/), someone.open('/')])
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  await page.route('**/readyz', route => route.abort('internetdisconnected'))
  await page.evaluate("window.dispatchEvent(new Event('offline'))")
  await notice.waitFor()
  await page.unroute('**/readyz')
  await notice.waitFor({ state: 'detached' })
})

test('without a connection a page that is opened reports it at once, and its code is loaded when the service is back', async () => {
  await using network = await networkTo(app.base_url)
  // A browser that keeps the failure of a module reports it once more, before the document is reloaded.
  const accept = /ERR_|Failed to load|Failed to fetch dynamically imported module/
  await using someone = await visit({ base_url: network.base_url, accept, path: '/' })
  const { page } = someone
  const notice = page.getByRole('alert').filter({ hasText: 'The service does not respond' })
  const failed: string[] = []
  page.on('requestfailed', request => failed.push(new URL(request.url()).pathname))
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  network.cut()
  await page.context().setOffline(true)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Usage' }).click()
  await notice.waitFor()
  // Then only the readiness is requested until the service is back, and not the code of the page.
  const code = () => failed.filter(path => path.endsWith('.js'))
  const before = code()
  for (const _ of [1, 2])
    await page.waitForEvent('requestfailed', request => request.url().endsWith('/readyz'))
  expect(code()).toEqual(before)
  network.restore()
  await page.context().setOffline(false)
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
  await notice.waitFor({ state: 'detached' })
})

test('a double click on Start run starts one run', async () => {
  await using someone = await visit({ path: '/new' })
  const { page } = someone
  await page.getByRole('textbox', { name: 'Describe the task' }).fill('Once')
  await page.getByRole('button', { name: 'Start run' }).dblclick()
  await page.waitForURL(/\/agent\/trace\/\d+/)
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)
  expect(body.items.map(({ title }: { title: string }) => title)).toEqual(['Once'])
})
