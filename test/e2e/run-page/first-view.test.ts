import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../../runs/await-run.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser, playbook } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())

const many = Array.from({ length: 12 }, (_, n) => `run: printf 'output %s\\n' ${n}`)

test('the first view of a trace requests each response once, with its code in few files, before the code of any menu', async () => {
  const run = await createRun(app, { prompt: playbook('Some steps', ...many, 'answer: "Done."') })
  await awaitEnd(app, run.id)
  await using someone = await visit()
  const { page } = someone
  const requests: string[] = []
  page.on('request', request =>
    requests.push(`${request.method()} ${new URL(request.url()).pathname}${new URL(request.url()).search}`),
  )
  const api = `/v1/organizations/${app.org_id}/agent/run/${run.id}`
  for (const address of [`/agent/trace/${run.id}`, `/agent/trace/${run.id}#e3`]) {
    await someone.open('/docs')
    requests.length = 0
    await someone.open(address)
    await page.getByRole('feed').locator('article').first().waitFor()
    await page.getByRole('region', { name: 'Answer' }).getByText('Done.').waitFor()
    const count = (request: string) => requests.filter(each => each === request).length
    expect(count('POST /session/token')).toBe(1)
    expect(count(`GET ${api}`)).toBe(1)
    expect(count(`GET ${api}/logs?skip=0&limit=12`)).toBe(1)
    expect(requests.filter((each, at) => each.includes('/v1/') && requests.indexOf(each) < at)).toEqual([])
    expect(requests.filter(each => each.endsWith('.js')).length).toBeLessThan(30)
    expect(requests.filter(each => /menu|toasts|keyboard-help/.test(each))).toEqual([])
  }
})

test('a menu opens at the first press of its button, by keyboard too, and returns the focus', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  const button = page.getByRole('button', { name: /^Account:/ })
  for (const key of ['Enter', 'ArrowDown']) {
    await page.reload()
    await button.focus()
    await page.keyboard.press(key)
    await page.getByRole('menu', { name: 'Account' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menu', { name: 'Account' }).waitFor({ state: 'detached' })
    await page.locator('button:focus', { hasText: 'Account:' }).waitFor()
  }
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Follow the end').waitFor()
})

test('a page whose code does not arrive reports it', async () => {
  await using someone = await visit({ accept: /ERR_FAILED/, path: '/' })
  const { page } = someone
  await page.route('**/assets/main-*.js', route => route.abort())
  await page.reload()
  await page.getByText('This page could not be loaded. Reload it to try again.').waitFor()
  await page.unroute('**/assets/main-*.js')
  await page.reload()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
})
