import { beforeAll, expect, test } from 'vitest'
import { startApp } from '../start-app.ts'
import { createLongRun } from './trace/create-long-run.ts'
import { inBrowser } from './visit.ts'

const entries = 10_000
const { app, visit } = await inBrowser(startApp())
let run_id: number
beforeAll(async () => {
  run_id = await createLongRun(app, entries)
})

type Article = { id: string; textContent: string }

const nodes = `document.querySelectorAll('[role=feed] *').length`

test('a trace of 10,000 entries opens at its end and loads only visible pages', async () => {
  await using someone = await visit()
  const { page } = someone
  const pages: number[] = []
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.pathname.endsWith('/logs') && !url.searchParams.has('reverse'))
      pages.push(Number(url.searchParams.get('skip')))
  })
  await someone.open(`/agent/trace/${run_id}`)
  const last = page.locator(`#e${entries}`)
  await last.waitFor()
  expect(await last.getAttribute('aria-posinset')).toBe(String(entries))
  expect(await last.getAttribute('aria-setsize')).toBe(String(entries))
  expect(Math.min(...pages)).toBeGreaterThan(entries - 60)
  expect(new Set(pages).size).toBe(pages.length)
  expect(await page.evaluate(nodes)).toBeLessThan(600)
})

test('scrolling through all of it keeps the document small and the entries right', async () => {
  await using someone = await visit({ path: `/agent/trace/${run_id}` })
  const { page } = someone
  await page.locator(`#e${entries}`).waitFor()
  for (const part of [0.8, 0.55, 0.3, 0.05, 0]) {
    await page.evaluate(
      `{ const feed = document.querySelector('[role=feed]'); feed.scrollTop = feed.scrollHeight * ${part} }`,
    )
    const articles = page.getByRole('feed').locator('article')
    await articles.getByText('echo entry').first().waitFor()
    const wrong = await articles.evaluateAll((all: Article[]) =>
      all
        .filter(
          ({ id, textContent }) =>
            Number(id.slice(1)) > 10 &&
            !textContent.includes(`entry ${id.slice(1)}`) &&
            !textContent.includes('Odd thing'),
        )
        .map(({ id }) => id),
    )
    expect(wrong).toEqual([])
    expect(await page.evaluate(nodes)).toBeLessThan(600)
  }
  await page.locator('#e1').waitFor()
  await page.getByRole('button', { name: 'Jump to latest' }).click()
  await page.locator(`#e${entries}`).waitFor()
})

test('a deep link opens at its entry, at any position', async () => {
  await using someone = await visit()
  const { page } = someone
  for (const seq of [5000, 8301, 2, entries]) {
    await someone.open(`/agent/trace/${run_id}#e${seq}`)
    const entry = page.locator(`#e${seq}`)
    await entry.waitFor()
    await page.locator(`#e${seq}:focus`).waitFor()
    const { y = -1 } = (await entry.boundingBox()) ?? {}
    expect(y).toBeGreaterThan(0)
    expect(y).toBeLessThan(900)
    await someone.open('/')
  }
})

test('keys walk through entries and errors, and do nothing while something is typed', async () => {
  await using someone = await visit({ path: `/agent/trace/${run_id}#e4999` })
  const { page } = someone
  await page.locator('#e4999:focus').waitFor()
  await page.keyboard.press('j')
  await page.locator('#e5000:focus').waitFor()
  await page.keyboard.press('k')
  await page.locator('#e4999:focus').waitFor()
  await page.keyboard.press('e')
  await page.locator('#e5000:focus').waitFor()
  await page.keyboard.press('e')
  await page.locator('#e7500:focus').waitFor()
  await page.keyboard.press('E')
  await page.locator('#e5000:focus').waitFor()
  await page.keyboard.press('/')
  await page.getByLabel('Search the trace').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('jjekf?')
  await page.waitForURL(/q=jjekf/)
  await page.getByText('No entry matches').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('f')
  await page.locator(`#e${entries}`).waitFor()
})

test('filters are applied by the service, and a match leads to its position in the whole trace', async () => {
  await using someone = await visit({ path: `/agent/trace/${run_id}?type=ERROR` })
  const { page } = someone
  await page.getByText('4 found').waitFor()
  await page.getByText('Odd thing 2500').waitFor()
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await page.getByLabel('Search the trace').fill('echo entry 7123')
  await page.getByRole('list', { name: 'Matches' }).getByRole('link').click()
  await page.locator('#e7123:focus').waitFor()
  await page.getByTestId('match-count').getByText('1 of 1').waitFor()
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await page.getByText('10,000 entries', { exact: true }).waitFor()
})

test('the whole trace can be downloaded, one JSON object a line', async () => {
  await using someone = await visit({ path: `/agent/trace/${run_id}` })
  const { page } = someone
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download as JSON lines' }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe(`agent-run-${run_id}.jsonl`)
  let text = ''
  for await (const chunk of await file.createReadStream()) text += chunk
  const lines = text.trimEnd().split('\n')
  expect(lines.length).toBe(entries)
  expect(lines.map(line => JSON.parse(line).seq)).toEqual(Array.from({ length: entries }, (_, i) => i + 1))
})
