import { test } from 'vitest'
import { startApp } from '../start-app.ts'
import { inBrowser } from './visit.ts'

const { visit } = await inBrowser(startApp())

test('a page that could not reach the service continues when the service is back', async () => {
  await using someone = await visit({ accept: /ERR_|Failed to load/, path: '/' })
  const { page } = someone
  const requests = /\/(v1|readyz)/
  await page.route(requests, route => route.abort('connectionrefused'))
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('heading', { name: 'The service does not respond' }).waitFor()
  await page.unroute(requests)
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
  await page.getByText('The service does not respond').first().waitFor({ state: 'detached' })
})
