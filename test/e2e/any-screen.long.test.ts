import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { startApp } from '../start-app.ts'
import { inBrowser, playbook } from './visit.ts'

const { app, visit } = await inBrowser(startApp())
let run_id: number
beforeAll(async () => {
  const long = 'x'.repeat(300)
  const run = await createRun(app, {
    prompt: playbook(
      `Wide ${long}`,
      `run: "echo ${long}"`,
      `write: { path: "${long.slice(0, 120)}.txt", content: "${long}\\n" }`,
      `answer: "${long}"`,
    ),
  })
  run_id = run.id
  await awaitEnd(app, run.id)
})

type Control = {
  ariaLabel: string | null
  labels?: ArrayLike<{ textContent: string }>
  textContent: string
  outerHTML: string
  getBoundingClientRect(): { width: number; height: number }
}

const sideways = (page: Page) => page.evaluate('document.documentElement.scrollWidth - innerWidth')

test('every page works at 380 px, without scrolling sideways', async () => {
  await using someone = await visit({ viewport: { width: 380, height: 780 } })
  const { page } = someone
  expect(await sideways(page)).toBe(0)
  await someone.open('/new')
  await page.getByRole('button', { name: 'Start run' }).waitFor()
  expect(await sideways(page)).toBe(0)
  await someone.open('/settings/integrations')
  await page.getByRole('button', { name: 'Create app' }).waitFor()
  expect(await sideways(page)).toBe(0)
  await someone.open(`/agent/trace/${run_id}`)
  await page.getByRole('feed').locator('[data-type=FINAL_ANSWER]').waitFor()
  expect(await sideways(page)).toBe(0)
  for (const [tab, sign] of [
    ['Answer', page.getByRole('region', { name: 'Answer' })],
    ['Changes', page.getByTestId('diff-summary')],
    ['Files', page.getByRole('tree')],
    ['Config', page.getByRole('button', { name: 'Save' })],
    ['Log', page.getByRole('feed')],
  ] as const) {
    await page.getByRole('tab', { name: tab }).click()
    await sign.waitFor()
    expect(await sideways(page)).toBe(0)
  }
})

test('the views of a run are tabs of the address, and back leads out of it', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  await page.locator(`[data-run-id="${run_id}"]`).getByRole('link', { name: /^Wide/ }).click()
  await page.getByRole('tab', { name: /Changes/ }).click()
  await page.waitForURL(/view=changes/)
  await page.reload()
  await page.getByTestId('diff-summary').waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
})

test('the theme follows the system until one is chosen, and the choice stays', async () => {
  await using someone = await visit({ colorScheme: 'dark', path: '/' })
  const { page } = someone
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  const dark = await background()
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitemradio', { name: 'Light' }).click()
  const light = await background()
  expect(light).not.toBe(dark)
  await page.reload()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  expect(await background()).toBe(light)
})

test('every control has a name and is at least 24 px in both directions', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = `/agent/trace/${run_id}`
  for (const path of ['/', '/new', run, `${run}?view=files`, `${run}?view=config`]) {
    await someone.open(path)
    await page.getByRole('button', { name: /^Account/ }).waitFor()
    await page.locator('[data-run-id], form, [role=feed] article').first().waitFor()
    if (path.endsWith('files')) await page.getByRole('treeitem').first().waitFor()
    const controls = await page
      .locator('button:visible, select:visible, input:not(.sr-only):visible, textarea:visible')
      .evaluateAll((all: Control[]) =>
        all.map(control => {
          const { width, height } = control.getBoundingClientRect()
          const name = control.ariaLabel || control.labels?.[0]?.textContent || control.textContent
          return { name, small: Math.min(width, height) < 24, html: control.outerHTML }
        }),
      )
    expect(controls.length).toBeGreaterThan(3)
    expect(controls.filter(({ name, small }) => !name || small)).toEqual([])
  }
})

test('a run or page that does not exist is reported as missing', async () => {
  await using someone = await visit({ accept: /404 \(Not Found\)/ })
  const { page } = someone
  for (const path of ['/agent/trace/999999', '/agent/trace/no-number', '/nowhere']) {
    await someone.open(path)
    await page.getByRole('heading', { name: /There is no such/ }).waitFor()
  }
})
