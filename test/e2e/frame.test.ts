import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { rows, startApp } from '../start-app.ts'
import { inBrowser, playbook } from './visit.ts'

const { app, visit } = await inBrowser(startApp())

const run = await createRun(app, {
  prompt: playbook('Sort the invoices', 'run: "true"', 'answer: Done.'),
  tags: ['kept'],
})
await awaitEnd(app, run.id)
await rows(
  app,
  `insert into runs (
      organization_id, user_id, title, prompt, tags, model, agent_type, source_type, status, runnable_at
    )
    select organization_id, user_id, 'Bulk ' || n, 'x', '{kept}', model, agent_type, source_type, 'completed',
      null
    from runs, generate_series(1, 40) n
    where id = (select min(id) from runs)`,
)

test('every page of the navigation has a name, a heading, a title and a breadcrumb, and opens by its keys', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  const main = page.getByRole('navigation', { name: 'Main' })
  for (const [name, key] of [
    ['Pull requests', 'p'],
    ['Repositories', 'o'],
    ['Sandboxes', 'b'],
    ['Usage', 'u'],
    ['Runs', 'r'],
  ] as const) {
    await main.getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    expect(await page.title()).toBe(`${name} · Agent runs`)
    expect(await page.getByRole('navigation', { name: 'Breadcrumbs' }).textContent()).toBe(name)
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.getByRole('heading', { level: 1, name: 'General' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press(key)
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  }
})

test('the command menu finds runs by number and title, pages, repositories and actions, by keyboard alone', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  const search = async (text: string, found: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search and commands' }).fill(text)
    await page.getByRole('option', { name: found, selected: true }).waitFor()
    await page.keyboard.press('Enter')
  }
  await search('invoices', 'Sort the invoices')
  await page.getByRole('heading', { level: 1, name: 'Sort the invoices' }).waitFor()
  await search('pull', 'Pull requests')
  await page.getByRole('heading', { level: 1, name: 'Pull requests' }).waitFor()
  await search(`#${run.id}`, 'Sort the invoices')
  await page.waitForURL(new RegExp(`/agent/trace/${run.id}$`))
  await search('sample/inv', 'sample/invoice')
  await page.getByRole('heading', { level: 1, name: 'sample/invoice' }).waitFor()
  await search('new ru', 'New run')
  await page.getByRole('heading', { level: 1, name: 'New run' }).waitFor()
  for (const [text, name, heading] of [
    ['add secret', 'Secrets', 'Secrets'],
    ['invite', 'Members', 'Members'],
    ['webhook', 'Webhooks', 'Webhooks'],
  ] as const) {
    await search(text, `${name} Settings`)
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
  }
})

test('the command menu offers the actions of the run that is open, and of no other page', async () => {
  await using someone = await visit({ path: `/agent/trace/${run.id}` })
  const { page } = someone
  await page.getByRole('heading', { level: 1, name: 'Sort the invoices' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('group', { name: 'This run' }).getByRole('option', { name: 'Archive' }).waitFor()
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('compare')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: `Compare run ${run.id}` }).waitFor()
  await page.keyboard.press('Escape')
  await someone.open('/usage')
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('group', { name: 'Latest runs' }).waitFor()
  expect(await page.getByRole('group', { name: 'This run' }).count()).toBe(0)
})

test('a key counts as soon as the command menu is closed, although the browser leaves the focus in its field until the next frame', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('listbox', { name: 'Results' }).getByRole('option').first().waitFor()
  const focused = await page.evaluate(`
    document.querySelector('dialog[open]').close()
    const target = document.activeElement
    target.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }))
    target.tagName`)
  expect(focused).toBe('INPUT')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
})

test('what is typed while the command menu is loading counts, with Enter', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  // One route for both loads: a request that waits while a route is removed can wait for ever.
  const arrived = Promise.withResolvers<void>()
  const later = Promise.withResolvers<void>()
  let awaited = arrived.promise
  await page.route('**/assets/command-menu-*.js', async route => {
    await awaited
    await route.continue()
  })
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Search and commands' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('usag')
  arrived.resolve()
  await page.getByRole('combobox', { name: 'Search and commands' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('e')
  await page.getByRole('option', { name: 'Usage', selected: true }).waitFor()
  awaited = later.promise
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Search and commands' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('usage')
  await page.keyboard.press('Enter')
  later.resolve()
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
})

test('the way back to a list of runs keeps its filters and its scroll position', async () => {
  await using someone = await visit({ path: '/?tag=kept' })
  const { page } = someone
  const last = page.getByRole('link', { name: 'Sort the invoices' })
  const scrolled = () => page.evaluate('document.querySelector("#main > div").scrollTop') as Promise<number>
  // The click itself scrolls to the link.
  const keep_position =
    'addEventListener("click", () => { window.left_at = document.querySelector("#main > div").scrollTop }, true)'
  await page.evaluate(keep_position)
  await last.click()
  const position = (await page.evaluate('window.left_at')) as number
  expect(position).toBeGreaterThan(0)
  const expectAsLeft = async () => {
    await page.waitForURL(`${app.base_url}/?tag=kept`)
    await last.waitFor()
    await expect.poll(scrolled).toBe(position)
  }
  await page.getByRole('heading', { level: 1, name: 'Sort the invoices' }).waitFor()
  await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Runs' }).click()
  await expectAsLeft()
  await page.reload()
  await expectAsLeft()
  await page.goForward()
  await page.getByRole('heading', { level: 1, name: 'Sort the invoices' }).waitFor()
  await page.getByRole('tab', { name: 'Config' }).click()
  await page.goBack()
  await expectAsLeft()
})

test('the page opens whatever the tab has stored of its scroll positions and of the last list', async () => {
  await using someone = await visit()
  const { page } = someone
  for (const stored of ['{}', '[1, ["x"]]', '"text"', 'not JSON']) {
    await page.addInitScript(text => {
      for (const key of ['scroll-positions', 'run-list']) sessionStorage.setItem(key, text)
    }, stored)
    await someone.open(`/agent/trace/${run.id}`)
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
  }
})

test('what was typed survives leaving the page and a reload, until it is sent or the person signs out', async () => {
  await using someone = await visit({ accept: /401 \(Unauthorized\)/, path: '/' })
  const { page } = someone
  const prompt = page.getByRole('textbox', { name: 'Describe the task' })
  await page.keyboard.press('c')
  await prompt.fill('An unfinished thought')
  await someone.open(`/agent/trace/${run.id}`)
  await page.getByRole('form', { name: 'Follow-up' }).getByRole('textbox').fill('And then?')
  await page.getByRole('link', { name: 'Runs' }).first().click()
  await page.keyboard.press('c')
  expect(await prompt.inputValue()).toBe('An unfinished thought')
  await page.reload()
  expect(await prompt.inputValue()).toBe('An unfinished thought')
  await someone.open(`/agent/trace/${run.id}`)
  expect(await page.getByRole('form', { name: 'Follow-up' }).getByRole('textbox').inputValue()).toBe(
    'And then?',
  )
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goto(await app.signInLink())
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  await page.keyboard.press('c')
  expect(await prompt.inputValue()).toBe('')
})

test('an unknown address is reported inside the frame', async () => {
  await using someone = await visit()
  const { page } = someone
  for (const path of ['/nowhere', '/settings/nothing', '/repositories/1/nothing']) {
    await someone.open(path)
    await page.getByRole('main').getByRole('heading', { name: 'There is no such page' }).waitFor()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
  }
})

test('on a phone the navigation is a drawer, titles have the whole width, and fields do not zoom', async () => {
  await using someone = await visit({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    path: '/',
  })
  const { page } = someone
  await page.getByRole('button', { name: 'Open the navigation' }).click()
  await page.getByRole('dialog', { name: 'Navigation' }).getByRole('link', { name: 'Repositories' }).click()
  await page.getByRole('heading', { level: 1, name: 'Repositories' }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await someone.open(`/agent/trace/${run.id}`)
  const title = await page.getByRole('heading', { level: 1 }).boundingBox()
  expect(title?.width).toBeGreaterThan(100)
  await someone.open('/new')
  await page.getByRole('button', { name: 'Start run' }).waitFor()
  const fields = page.locator('input:not(.sr-only):visible, select:visible, textarea:visible')
  const sizes = await fields.evaluateAll(all =>
    all.map(field => field.ownerDocument.defaultView?.getComputedStyle(field).fontSize),
  )
  expect(new Set(sizes)).toEqual(new Set(['16px']))
})
