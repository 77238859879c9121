import { beforeAll, expect, test } from 'vitest'
import { startApp } from '../../start-app.ts'
import { inBrowser } from '../visit.ts'
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
  await page.getByLabel('Search the trace').and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await count.getByText('2 of 111').waitFor()
  await page.locator('#e120').waitFor()
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.press('Shift+Enter')
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
  await using someone = await visit()
  const { page } = someone
  await someone.open(`/agent/trace/${run_id}?q=echo`)
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
  await using someone = await visit()
  const { page } = someone
  await someone.open(`/agent/trace/${run_id}#e1500`)
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
