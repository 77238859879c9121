import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { chatChunk } from '../model/fake-openai.ts'
import type { FakeReply } from '../model/fake-server.ts'
import { isSummaryRequest } from '../runs/agent/windowed-model.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { calls, shell, startCodingApp } from '../runs/coding-app.ts'
import { inBrowser, untilStatus } from './visit.ts'

/** Watches the run. */
const watched = Promise.withResolvers<void>()
/** Lets the model continue writing. */
const released = Promise.withResolvers<void>()

async function* slowly() {
  await watched.promise
  yield chatChunk({ role: 'assistant', content: '' })
  yield chatChunk({ reasoning_content: 'What is asked? ' })
  yield chatChunk({ content: 'I am **writing** this' })
  await released.promise
  yield chatChunk({ content: ' answer to its end.' })
  yield chatChunk({}, 'stop')
  yield 'data: [DONE]\n\n'
}

const session: Record<string, FakeReply[]> = {
  'Use every tool': [
    calls(shell('ls'), { name: 'read', arguments: { path: 'count.js' } }),
    calls({
      name: 'plan',
      arguments: {
        items: [
          { text: 'Write two', state: 'in_progress' },
          { text: 'Check', state: 'pending' },
        ],
      },
    }),
    calls(
      { name: 'edit', arguments: { path: 'count.js', old: 'one = 1', new: 'two = 2' } },
      { name: 'write', arguments: { path: 'new file.txt', content: 'grün\nblau\n' } },
      { name: 'search', arguments: { pattern: 'two' } },
      { name: 'dance', arguments: {} },
      { name: 'read', arguments: { path: 'no-such-file' } },
    ),
    { text: 'count.js now counts **two**.\n\n- a list\n- of things' },
  ],
  'Print much': [calls(shell('seq 1 60000'), shell('seq 1 5')), { text: 'Printed.' }],
  'Print until it is compacted': [
    ...[1, 2, 3, 4].map(n => ({
      ...calls(shell(`seq ${n}000 ${n}999; seq 1000 6000`)),
      usage: { input: n * 8_000, output: 50 },
    })),
    { text: 'Printed it all.' },
  ],
  'Write slowly': [calls(shell('true')), { raw: slowly() }],
}

const requests = new Map<string, number>()
const { app, visit } = await inBrowser(
  startCodingApp(
    request => {
      if (isSummaryRequest(request)) return { text: 'Goal: print.' }
      const [prompt = '', replies = []] =
        Object.entries(session).find(([name]) => JSON.stringify(request.body).includes(name)) ?? []
      const n = requests.get(prompt) ?? 0
      requests.set(prompt, n + 1)
      return replies[n] ?? { text: 'There is nothing more.' }
    },
    { AGENTRUN_COMPACT_TOKENS: '24000' },
  ),
)
afterAll(() => {
  watched.resolve()
  released.resolve()
})

test('every tool has its card, and the run its tokens', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: 'Use every tool' })
  const { usage } = await awaitEnd(app, run.id)
  await someone.open(`/agent/trace/${run.id}`)
  await untilStatus(page, 'completed')
  const header = page.locator('main header')
  await header.getByText('openai-compatible/fake').waitFor()
  expect(await header.getByText('scripted').count()).toBe(0)
  await header
    .getByTitle(
      `Tokens: ${usage.input_tokens} in, of them ${usage.cached_tokens} cached, ${usage.output_tokens} out`,
    )
    .waitFor()

  const feed = page.getByRole('feed')
  const card = (label: string) =>
    feed.locator('article').filter({ has: page.getByRole('button', { name: label }) })
  // Entries above the screen are not in the document: j walks down from the first.
  await someone.open(`/agent/trace/${run.id}#e1`)
  // Commands that succeeded are closed.
  await card('shell ls').getByRole('button', { name: 'shell ls' }).click()
  await card('shell ls').locator('pre').getByText('count.js').waitFor()
  await card('Plan')
    .getByRole('listitem')
    .filter({ hasText: 'Write two' })
    .getByLabel('in progress')
    .waitFor()
  await someone.open(`/agent/trace/${run.id}?type=ACTION`)
  await card('edit count.js').locator('pre').getByText('two = 2').waitFor()
  await card('write new file.txt').locator('pre').getByText('blau').waitFor()
  await card('search two 1 match').waitFor()
  await card('dance failed').waitFor()
  const read = card('read count.js')
  expect(await read.locator('pre').count()).toBe(0)
  await read.getByRole('button', { name: 'read count.js' }).click()
  await read.locator('pre').getByText('export const one = 1').waitFor()
  await card('read no-such-file failed').waitFor()
  await page.getByRole('region', { name: 'Answer' }).getByRole('list').getByText('of things').waitFor()
})

test('the whole output of a tool can be saved where its card shows only part of it', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: 'Print much' })
  await awaitEnd(app, run.id)
  await someone.open(`/agent/trace/${run.id}?type=ACTION`)
  const card = (label: string) =>
    page
      .getByRole('feed')
      .locator('article')
      .filter({ has: page.getByRole('button', { name: label }) })
  await card('shell seq 1 5').locator('pre').waitFor()
  expect(
    await card('shell seq 1 5')
      .filter({ hasNotText: '60000' })
      .getByRole('button', { name: 'Download full output' })
      .count(),
  ).toBe(0)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download full output' }).click(),
  ])
  expect(file.suggestedFilename()).toMatch(/^run-\d+-entry-\d+\.txt$/)
  const path = await file.path()
  expect(readFileSync(path, 'utf8')).toBe(`${Array.from({ length: 60_000 }, (_, i) => i + 1).join('\n')}\n`)
})

test('a compaction is an entry that opens to what it replaced, which is still there', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: 'Print until it is compacted' })
  expect(await awaitEnd(app, run.id)).toMatchObject({ status: 'completed', result: 'Printed it all.' })
  await someone.open(`/agent/trace/${run.id}?type=ACTION`)
  const show = page.getByRole('button', { name: /^Show what it replaced: entries \d+ to \d+$/ }).first()
  const replaced = page.getByRole('list', { name: 'Replaced entries' })
  await show.click()
  await replaced.waitFor()
  await page.getByRole('button', { name: 'Hide what it replaced' }).click()
  await replaced.waitFor({ state: 'detached' })
  await show.click()
  const first = replaced.getByRole('listitem').filter({ hasText: 'seq 1000 1999' })
  await first.getByRole('link').click()
  await page.waitForURL(/#e\d+$/)
  await page.locator(new URL(page.url()).hash).getByText('seq 1000 1999').first().waitFor()
})

test('what a model writes is seen while it is written, and then as the answer', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: 'Write slowly' })
  const stream = page.waitForResponse(
    response => response.url().endsWith('/events') && response.url().includes('/agent/run/'),
  )
  await someone.open(`/agent/trace/${run.id}`)
  await untilStatus(page, 'running')
  await stream
  watched.resolve()
  const live = page.getByTestId('live-text')
  // What may be the beginning of a secret, such as the last letter, comes with what follows it.
  await live.getByText('I am **writing**').waitFor()
  released.resolve()
  await page.locator('[data-type=FINAL_ANSWER]').getByText('this answer to its end.').waitFor()
  await live.waitFor({ state: 'detached' })
  await untilStatus(page, 'completed')
  expect(await page.locator('[data-type=FINAL_ANSWER] strong').textContent()).toBe('writing')
})
