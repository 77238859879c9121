import { beforeAll, expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { rows, startApp } from '../start-app.ts'
import { inBrowser, playbook } from './visit.ts'

const entries = 10_000
const { app, visit } = await inBrowser(startApp())
let run_id: number
beforeAll(async () => {
  run_id = await longRun()
})

/** A finished run with so many entries, every 2,500th an error. Written to the tables: no run of a test could be so long. */
async function longRun(): Promise<number> {
  const run = await createRun(app, { prompt: playbook('A long day', 'answer: "Done."') })
  const { total_logs } = await awaitEnd(app, run.id)
  await rows(
    app,
    `insert into log_entries (run_id, seq, organization_id, turn, message_type, tool_name, body)
     select $1::bigint, n, $2::bigint, 1, type, tool, json_build_object('agent_run_id', $1::bigint, 'seq', n, 'created_at', '2026-11-20T10:00:00.000Z',
       'turn', 1, 'message_type', type, 'thought', repeat('thinking ', n % 20), 'tool_name', tool,
       'tool_input', json_build_object('command', 'echo entry ' || n), 'tool_output', json_build_object('status', 'ok', 'exit_code', 0,
       'output', repeat('line of ' || n || E'\\n', 1 + n % 12), 'truncated', false),
       'observation', json_build_object('code', 'odd', 'message', 'Odd thing ' || n, 'retryable', false, 'phase', 'tool'),
       'duration_ms', 5, 'truncated', false, 'artifact_url', null)::text
     from (select n, case when n % 2500 = 0 then 'ERROR' else 'ACTION' end as type, case when n % 2500 = 0 then null else 'shell' end as tool
       from generate_series($3::int + 1, $4::int) n) numbers`,
    [run.id, app.org_id, total_logs, entries],
  )
  await rows(app, 'update runs set total_logs = $2 where id = $1', [run.id, entries])
  return run.id
}

type Article = { id: string; textContent: string }

const nodes = `document.querySelectorAll('[role=feed] *').length`

test('a trace of 10,000 entries opens at its end and loads only visible pages', async () => {
  await using someone = await visit()
  const { page } = someone
  const pages: string[] = []
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.pathname.endsWith('/logs') && !url.searchParams.has('reverse')) pages.push(url.searchParams.get('skip') ?? '')
  })
  await someone.open(`/agent/trace/${run_id}`)
  const last = page.locator(`#e${entries}`)
  await last.waitFor()
  expect(await last.getAttribute('aria-posinset')).toBe(String(entries))
  expect(await last.getAttribute('aria-setsize')).toBe(String(entries))
  expect(new Set(pages)).toEqual(new Set(['9900']))
  expect(await page.evaluate(nodes)).toBeLessThan(600)
})

test('scrolling through all of it keeps the document small and the entries right', async () => {
  await using someone = await visit()
  const { page } = someone
  await someone.open(`/agent/trace/${run_id}`)
  await page.locator(`#e${entries}`).waitFor()
  for (const part of [0.8, 0.55, 0.3, 0.05, 0]) {
    await page.evaluate(`{ const feed = document.querySelector('[role=feed]'); feed.scrollTop = feed.scrollHeight * ${part} }`)
    const articles = page.getByRole('feed').locator('article')
    await articles.getByText('echo entry').first().waitFor()
    const wrong = await articles.evaluateAll((all: Article[]) =>
      all
        .filter(
          ({ id, textContent }) =>
            Number(id.slice(1)) > 10 && !textContent.includes(`entry ${id.slice(1)}`) && !textContent.includes('Odd thing'),
        )
        .map(({ id }) => id),
    )
    expect(wrong).toEqual([])
    expect(await page.evaluate(nodes)).toBeLessThan(600)
  }
  await page.locator('#e1').waitFor()
  await page.getByRole('button', { name: 'To the end' }).click()
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
  await using someone = await visit()
  const { page } = someone
  await someone.open(`/agent/trace/${run_id}#e4999`)
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
  await page.getByLabel('Text in the trace').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('jjekf?')
  await page.waitForURL(/q=jjekf/)
  await page.getByText('No entry matches').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.getByLabel('Text in the trace').fill('')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('f')
  await page.locator(`#e${entries}`).waitFor()
})

test('filters are applied by the service, and a match links to its position in the whole trace', async () => {
  await using someone = await visit()
  const { page } = someone
  await someone.open(`/agent/trace/${run_id}?type=ERROR`)
  await page.getByText('4 found').waitFor()
  await page.getByText('Odd thing 2500').waitFor()
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await page.getByLabel('Text in the trace').fill('echo entry 7123')
  await page.getByText('1 found').waitFor()
  await page.getByRole('link', { name: 'Link to entry 7123' }).click()
  await page.locator('#e7123:focus').waitFor()
  await page.getByText('10,000 entries', { exact: true }).waitFor()
})

test('the whole trace can be downloaded, one JSON object a line', async () => {
  await using someone = await visit()
  const { page } = someone
  await someone.open(`/agent/trace/${run_id}`)
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
