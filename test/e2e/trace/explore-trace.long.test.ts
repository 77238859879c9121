import { beforeAll, expect, test } from 'vitest'
import { awaitEnd, createRun } from '../../runs/await-run.ts'
import { rows, startApp } from '../../start-app.ts'
import { inBrowser, playbook } from '../visit.ts'
import { createLongRun } from './create-long-run.ts'

const entries = 3_000
const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '1' }))
let run_id: number
beforeAll(async () => {
  run_id = await createLongRun(app, entries)
})

/** What the browser highlights. */
const highlighted = `[...(CSS.highlights.get('search') ?? [])].map(range => range.toString())`

test('a search lists its matches, and each is shown, highlighted, in the whole trace', async () => {
  await using someone = await visit()
  const { page } = someone
  const count = page.getByTestId('match-count')
  await someone.open(`/agent/trace/${run_id}`)
  await page.locator(`#e${entries}`).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('ENTRY 12')
  const matches = page.getByRole('list', { name: 'Matches' })
  await matches.getByText('Show in context').first().waitFor({ state: 'attached' })
  // 12, 120 … 129 and 1200 … 1299.
  await count.getByText('111 matches').waitFor()
  expect(await matches.locator('mark').first().textContent()).toBe('entry 12')
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}-matches.png` })
  await page.keyboard.press('Enter')
  await page.locator('#e12').waitFor()
  await count.getByText('1 of 111').waitFor()
  await page.waitForFunction(`${highlighted}.includes('entry 12')`)
  await page.locator('#e12:focus').waitFor()
  await page.keyboard.press('n')
  await count.getByText('2 of 111').waitFor()
  await page.locator('#e120').waitFor()
  await page.keyboard.press('N')
  await count.getByText('1 of 111').waitFor()
  await page.keyboard.press('N')
  await count.getByText('111 of 111').waitFor()
  await page.locator('#e1299').waitFor()
  await page.locator('#e1298').waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}-context.png` })
  await page.reload()
  await count.getByText('111 of 111').waitFor()
  await page.locator('#e1299:focus').waitFor()
  await page.keyboard.press('N')
  await page.locator('#e1298:focus').waitFor()
  await page.keyboard.press('Escape')
  await count.waitFor({ state: 'detached' })
  await page.locator('#e1298').waitFor()
  expect(new URL(page.url()).search).toBe('')
  expect(await page.evaluate(highlighted)).toEqual([])
})

test('a match deep in a list is loaded when it is scrolled to, and Back returns to the list', async () => {
  await using someone = await visit({ path: `/agent/trace/${run_id}?q=echo` })
  const { page } = someone
  const matches = page.getByRole('list', { name: 'Matches' })
  await page
    .getByTestId('match-count')
    .getByText(/^2,9\d\d matches$/)
    .waitFor()
  await matches.evaluate((box: { scrollTop: number; scrollHeight: number }) => {
    box.scrollTop = box.scrollHeight / 2
  })
  const hit = matches.getByRole('link', { name: 'echo entry 1500' })
  await hit.click()
  await page.locator('#e1500:focus').waitFor()
  await page.goBack()
  await matches.getByRole('link', { name: 'echo entry 1500' }).waitFor()
})

test('the feed is one stop of the Tab key, arrow keys move in it, and the address names the entry', async () => {
  await using someone = await visit({ path: `/agent/trace/${run_id}#e1500` })
  const { page } = someone
  await page.locator('#e1500:focus').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.locator('#e1501:focus').waitFor()
  await page.waitForURL(/#e1501$/)
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await page.waitForURL(/#e1502$/)
  expect(await page.locator('#e1502').getAttribute('data-open')).toBe(null)
  await page.keyboard.press('Tab')
  expect(await page.locator('[role=feed] :focus').count()).toBe(0)
  await page.keyboard.press('Shift+Tab')
  await page.locator('#e1502:focus').waitFor()
  await page.keyboard.press('Shift+Tab')
  expect(await page.locator('[role=feed] :focus').count()).toBe(0)
  await page.keyboard.press('Tab')
  await page.locator('#e1502:focus').waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.locator('#e1502 :focus').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('#e1502:focus').waitFor()
  await page.keyboard.press('Home')
  await page.locator('#e1:focus').waitFor()
  await page.keyboard.press('i')
  await page
    .getByRole('textbox', { name: /Follow up/ })
    .and(page.locator(':focus'))
    .waitFor()
})

test('keys lead from failure to failure, also of commands, from the end or the selected entry, and choose the tabs', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('Two failures', 'run: echo first', 'run: "exit 3"') })
  const { total_logs } = await awaitEnd(app, run.id)
  await someone.open(`/agent/trace/${run.id}`)
  const [command, end] = [
    page.locator('article:focus[data-type=ACTION]', { hasText: 'exit 3' }),
    page.locator(`#e${total_logs}:focus`),
  ]
  await page.locator(`#e${total_logs}`).waitFor()
  await page.keyboard.press('E')
  await end.waitFor()
  await page.keyboard.press('E')
  await command.waitFor()
  await page.keyboard.press('E')
  await page.getByText('No failure before this entry').waitFor()
  await end.waitFor()
  await page.keyboard.press('E')
  await command.waitFor()
  // Pressed faster than the service responds, the key still moves by one failure each time.
  await page.keyboard.press('f')
  await page.keyboard.press('E')
  await page.keyboard.press('E')
  await command.waitFor()
  await page.keyboard.press('f')
  await page.keyboard.press('E')
  await end.waitFor()
  for (const [key, name] of [
    ['2', /^Changes/],
    ['3', /^Files/],
    ['4', /^Config/],
    ['1', /^Answer/],
  ] as const) {
    await page.keyboard.press(key)
    await page.getByRole('tab', { name, selected: true }).waitFor()
  }
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('The tabs').waitFor()
})

test('the outline has turns, items of the plan and steps with failures and cost, follows the feed and leads to entries', async () => {
  await using someone = await visit()
  const { page } = someone
  const steps = ['plan: [Reproduce the defect, Fix it]', 'run: "exit 3"', 'answer: Done.']
  const run = await createRun(app, { prompt: playbook('Outlined', ...steps) })
  const { total_logs } = await awaitEnd(app, run.id)
  // The scripted model is free.
  await rows(app, `update journal set cost_usd = 0.25 where run_id = $1 and kind = 'model_answered'`, [
    run.id,
  ])
  await someone.open(`/agent/trace/${run.id}`)
  await page.locator(`#e${total_logs}`).waitFor()
  await page.keyboard.press('l')
  const outline = page.getByRole('navigation', { name: 'Outline' })
  const turn = outline.getByRole('button', { name: /^Turn 1/ })
  await turn.waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}-outline.png` })
  await turn.getByText('2 failed').waitFor()
  await turn.getByText(/^\$\d/).waitFor()
  const item = outline.getByRole('button', { name: /^Reproduce the defect/ })
  await item.getByText('2 failed').waitFor()
  await outline.locator('[aria-current=step]').waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}-outline.png` })
  const step = outline.getByRole('button', { name: /^shell\s*exit 3/ })
  if (!(await step.isVisible()))
    await outline.getByRole('button', { name: 'Open Reproduce the defect' }).click()
  await step.click()
  await page.locator('article:focus[data-type=ACTION]', { hasText: 'exit 3' }).waitFor()
  expect(await outline.locator('[aria-current=step]').textContent()).toContain('exit 3')
  await outline.getByRole('button', { name: 'Close Turn 1' }).click()
  await item.waitFor({ state: 'detached' })
  await page.reload()
  await outline.waitFor()
  await page.getByRole('tab', { name: 'Config' }).click()
  await page
    .getByRole('region', { name: 'Cost over time' })
    .getByText(/^\$\d.* in /)
    .waitFor()
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}-cost.png` })
})

test('the minimap shows the whole trace and where the feed is, and dragging moves the feed', async () => {
  await using someone = await visit({ path: `/agent/trace/${run_id}` })
  const { page } = someone
  await page.locator(`#e${entries}`).waitFor()
  const map = page.getByRole('scrollbar', { name: 'Minimap' })
  await map.waitFor()
  const { x, y, width, height } = (await map.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  const at = (share: number) => page.mouse.move(x + width / 2, y + height * share)
  await at(0.9)
  await page.mouse.down()
  await at(0.5)
  await page.locator('#e1500').waitFor()
  await page.mouse.up()
  const now = Number(await map.getAttribute('aria-valuenow'))
  expect(Math.abs(now - entries / 2)).toBeLessThan(40)
  const red = `(() => {
    const canvas = document.querySelector('canvas')
    const { data } = canvas.getContext('2d').getImageData(canvas.width - 3, 0, 1, canvas.height)
    return Array.from({ length: canvas.height }, (_, y) => data[4 * y + 3]).filter(alpha => alpha > 0).length
  })()`
  // The only failure is entry 2,500.
  const painted = await page.evaluate(red)
  expect(painted).toBeGreaterThan(0)
  expect(painted).toBeLessThan(20)
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}-minimap.png` })
})
