import { expect, test } from 'vitest'
import { append } from '../../../src/store/runs/append.ts'
import { entry } from '../../../src/trace/entry.ts'
import { awaitEnd, createRun } from '../../runs/await-run.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser, playbook } from '../visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '1' }))

test('the filter Failures shows every failure that the keys and the outline count, also in the matches of a search', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, {
    prompt: playbook('One failure', 'run: echo first', 'run: echo second; exit 3', 'answer: Done.'),
  })
  await awaitEnd(app, run.id)
  const { body } = await app.call(
    'GET',
    `/v1/organizations/${app.org_id}/agent/run/${run.id}/logs?failed=true`,
  )
  const failures = body.logs.map(({ seq }: { seq: number }) => `e${seq}`)
  await someone.open(`/agent/trace/${run.id}`)
  await page.getByRole('button', { name: 'Failures' }).click()
  await page.getByText(`${failures.length} found`).waitFor()
  const entries = page.getByRole('feed').getByRole('article')
  expect(await entries.evaluateAll((all: { id: string }[]) => all.map(({ id }) => id))).toEqual(failures)
  await page.locator('article[data-type=ACTION]', { hasText: 'echo second; exit 3' }).waitFor()
  await page.getByLabel('Search the trace').fill('echo')
  await page
    .getByTestId('match-count')
    .getByText(/^[12] match/)
    .waitFor()
  await page.getByRole('list', { name: 'Matches' }).getByText('echo second; exit 3').first().waitFor()
  expect(await page.getByText('echo first').count()).toBe(0)
  expect(new URL(page.url()).search).toBe('?failed=true&q=echo')
})

test('a match deep in a long entry is scrolled into view, the entry has the focus, and n and N lead on', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('Long entries', 'answer: Done.') })
  await awaitEnd(app, run.id)
  const lines = Array.from({ length: 400 }, (_, n) => (n === 235 ? 'here is the needle' : `line ${n}`)).join(
    '\n',
  )
  const texts = [
    entry({ message_type: 'PLAN_EVALUATION', thought: lines }),
    entry({
      message_type: 'ACTION',
      tool_name: 'shell',
      tool_input: { command: 'cat long' },
      tool_output: { status: 'ok', exit_code: 0, output: lines, truncated: false },
    }),
  ]
  const message = entry({
    message_type: 'USER_MESSAGE',
    observation: { text: lines, user_id: null, source_type: 'API', mode: 'new_turn' },
  })
  await append(app.db, app.org_id, run.id, null, { entries: [...texts, message, ...texts, message] })
  await someone.open(`/agent/trace/${run.id}`)
  const count = page.getByTestId('match-count')
  await page.getByLabel('Search the trace').fill('needle')
  await count.getByText('6 matches').waitFor()
  await page.keyboard.press('Enter')
  for (const rank of [1, 2, 3, 4, 5, 6]) {
    await count.getByText(`${rank} of 6`).waitFor()
    await page.locator('article:focus[data-open]').waitFor()
    await page.waitForFunction(match_in_view)
    if (rank < 6) await page.keyboard.press('n')
  }
  await page.keyboard.press('N')
  await count.getByText('5 of 6').waitFor()
  expect(await page.getByLabel('Search the trace').inputValue()).toBe('needle')
  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  await count.waitFor({ state: 'detached' })
  await page.locator('article:focus[data-open]').waitFor()
})

test('the only match stays in view when n leads to it again, and on a phone its row in the list shows it', async () => {
  await using someone = await visit({ viewport: { width: 390, height: 844 } })
  const { page } = someone
  const lines = Array.from({ length: 400 }, (_, n) =>
    n === 235 ? `${'before '.repeat(20)} the needle` : `- line ${n}`,
  ).join('\n')
  const run = await createRun(app, { prompt: `${playbook('A long message', 'answer: Done.')}\n${lines}` })
  await awaitEnd(app, run.id)
  await someone.open(`/agent/trace/${run.id}?view=log`)
  await page.getByLabel('Search the trace').fill('the needle')
  await page.getByTestId('match-count').getByText('1 match').waitFor()
  const mark = page.getByRole('list', { name: 'Matches' }).locator('mark')
  const { x, width } = (await mark.boundingBox()) ?? { x: 390, width: 0 }
  expect(x + width).toBeLessThan(390)
  await page.keyboard.press('Enter')
  for (const _ of [1, 2]) {
    await page.locator('article:focus[data-open]').waitFor()
    await page.waitForFunction(match_in_view)
    await page.keyboard.press('n')
  }
  await page.waitForFunction(match_in_view)
})

test('what a jump to a failure reported ends when a search begins', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('One failure', 'run: exit 3', 'answer: Done.') })
  const { total_logs } = await awaitEnd(app, run.id)
  await someone.open(`/agent/trace/${run.id}`)
  await page.locator(`#e${total_logs}`).waitFor()
  await page.keyboard.press('e')
  const notice = page.getByText('No failure after this entry: this is the first one')
  await notice.waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('exit')
  await page.getByRole('list', { name: 'Matches' }).waitFor()
  expect(await notice.count()).toBe(0)
})

/** Whether the selected entry has its match inside the visible part of the feed, in two frames. */
const match_in_view = `(async () => {
  const seen = () => {
    const feed = document.querySelector('[role=feed]').getBoundingClientRect()
    const ranges = [...(CSS.highlights.get('search') ?? [])].filter(range => document.activeElement.contains(range.startContainer))
    return ranges.some(range => {
      const { top, bottom, height } = range.getBoundingClientRect()
      return height > 0 && top >= feed.top && bottom <= feed.bottom
    })
  }
  const first = seen()
  for (let frame = 0; frame < 10; frame++) await new Promise(requestAnimationFrame)
  return first && seen()
})()`
