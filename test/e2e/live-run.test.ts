import { afterEach, expect, test } from 'vitest'
import { awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { startApp } from '../start-app.ts'
import { networkTo } from './network.ts'
import { inBrowser, playbook, untilStatus } from './visit.ts'

const { app, visit } = await inBrowser(startApp({ AGENTRUN_WORKER_CONCURRENCY: '1' }))

afterEach(async () => {
  // There is one worker: what a failed test left running would hold up the others.
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)
  for (const { id, terminal } of body.items) {
    if (terminal) continue
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })
    await awaitEnd(app, id)
  }
})

const endless = `run: "echo first line; printf '\\\\033[31mred\\\\033[0m and what follows\\\\n'; tail -f /dev/null"`

test('a queued run is seen to start, its tool shows its output as it comes, and Stop ends it', async () => {
  await using someone = await visit({ reducedMotion: 'no-preference' })
  const { page } = someone
  const first = await createRun(app, { prompt: playbook('Takes the only worker', endless) })
  await awaitRun(app, first.id, ({ status }) => status === 'running')
  const run = await createRun(app, { prompt: playbook('Never ends', endless) })
  const stream = page.waitForResponse(response => response.url().endsWith(`/agent/run/${run.id}/events`))
  await someone.open(`/agent/trace/${run.id}`)
  await page.getByText('· number 1 in the queue').waitFor()
  await stream
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: first.id })
  const tool = page.getByTestId('live-tool')
  await tool.locator('pre').getByText('first line').waitFor()
  await tool.locator('.ansi-red-fg', { hasText: 'red' }).waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await untilStatus(page, 'cancelled')
  await tool.waitFor({ state: 'detached' })
  // What has ended offers no buttons that end it.
  for (const name of ['Stop', 'Pause'])
    await page.getByRole('button', { name, exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('feed').getByText('interrupted', { exact: true }).waitFor()
})

test('the output of a running tool is shown again after a reload, and stays while there is no connection', async () => {
  await using network = await networkTo(app.base_url)
  await using someone = await visit({ base_url: network.base_url, accept: /ERR_|Failed to load/ })
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('Is reloaded', endless) })
  await someone.open(`/agent/trace/${run.id}`)
  const tool = page.getByTestId('live-tool')
  // The end may begin a secret and is then held back.
  const output = tool.locator('pre').filter({ hasText: /^first line\s+red and what[^\n]*\s*$/ })
  await output.waitFor()
  await page.reload()
  await output.waitFor()
  network.cut()
  await page.getByText('Reconnecting…').waitFor()
  await tool.getByText('as of the last connection').waitFor()
  await output.waitFor()
  network.restore()
  await tool.getByText('as of the last connection').waitFor({ state: 'detached' })
  await output.waitFor()
  expect(await tool.count()).toBe(1)
})

test('Pause pauses a running run, and a follow-up continues it', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('Is held', endless) })
  await someone.open(`/agent/trace/${run.id}`)
  await page.getByText('· running a tool').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await untilStatus(page, 'paused')
  await page.getByText('· by request').waitFor()
  expect(await page.getByRole('button', { name: 'Pause' }).getAttribute('aria-description')).toMatch(
    /^The run is paused/,
  )
  await page
    .getByRole('textbox', { name: /^The run is paused/ })
    .fill(playbook('Goes on', 'answer: "Gone on."'))
  await page.getByRole('textbox', { name: /^The run is paused/ }).press('Control+Enter')
  await untilStatus(page, 'completed')
})

test('a question of the agent is shown at the follow-up box, and the answer continues the run', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, {
    prompt: playbook('Ask first', 'ask: "Which colour?"', 'answer: "Thank you."'),
  })
  await someone.open(`/agent/trace/${run.id}`)
  await untilStatus(page, 'waiting')
  await page.getByTestId('question').getByText('Which colour?').waitFor()
  await page.getByRole('textbox', { name: 'Your answer' }).fill('Blue')
  await page.getByRole('textbox', { name: 'Your answer' }).press('Control+Enter')
  await untilStatus(page, 'completed')
  await page.getByRole('feed').getByText('Blue').waitFor()
  await page.getByTestId('question').waitFor({ state: 'detached' })
})

test('a follow-up of a finished run is a new turn, seen live', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, {
    prompt: playbook('First turn', 'write: { path: one.txt, content: "1\\n" }', 'answer: "One."'),
  })
  await someone.open(`/agent/trace/${run.id}`)
  await untilStatus(page, 'completed')
  await page
    .getByRole('textbox', { name: /Follow up/ })
    .fill(
      playbook(
        'Second turn',
        'run: test -e one.txt',
        'write: { path: two.txt, content: "2\\n" }',
        'answer: "Two."',
      ),
    )
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('feed').getByText('Two.', { exact: true }).waitFor()
  await untilStatus(page, 'completed')
  await page.getByRole('region', { name: 'Answer' }).getByText('turn 2').waitFor()
  await page.getByRole('tab', { name: /Changes/ }).click()
  await page.getByRole('region', { name: 'two.txt' }).waitFor()
  await page.getByRole('region', { name: 'one.txt' }).waitFor()
})

test('a message to a running run is delivered in the chosen mode', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('Active', endless) })
  await someone.open(`/agent/trace/${run.id}`)
  await awaitRun(app, run.id, ({ phase }) => phase === 'agent')
  await page.getByLabel('Delivered').selectOption('enqueue')
  await page
    .getByRole('textbox', { name: 'Send a message to the agent' })
    .fill(playbook('Afterwards', 'answer: "Later."'))
  await page.getByRole('button', { name: 'Send' }).click()
  const message = page.locator('[data-type=USER_MESSAGE]').last()
  await message.getByText('Afterwards').waitFor()
  await message.getByText('enqueue').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await untilStatus(page, 'cancelled')
})

test('the end is followed until someone scrolls up; then nothing moves, and what came in is counted', async () => {
  await using someone = await visit({ reducedMotion: 'no-preference' })
  const { page } = someone
  const before = Array.from({ length: 25 }, (_, i) => `run: echo before ${i}`)
  const after = Array.from({ length: 5 }, (_, i) => `run: echo after ${i}`)
  const prompt = playbook('Many steps', ...before, 'ask: "Go on?"', ...after, 'answer: "All done."')
  const run = await createRun(app, { prompt })
  await someone.open(`/agent/trace/${run.id}`)
  await untilStatus(page, 'waiting')
  const feed = page.getByRole('feed')
  await feed.getByText('Go on?').waitFor()
  await feed.evaluate((box: { scrollTop: number }) => {
    box.scrollTop -= 1500
  })
  const end = page.getByRole('button', { name: 'Jump to latest' })
  await end.waitFor()
  const entry = feed.locator('article').nth(4)
  const id = await entry.getAttribute('id')
  // A trial click waits until the entry has come to rest.
  await entry.click({ trial: true })
  const position = await entry.boundingBox()
  const { total_logs } = await awaitRun(app, run.id, ({ status }) => status === 'waiting')
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: run.id,
    prompt: 'Yes',
  })
  const ended = await awaitEnd(app, run.id)
  await page.getByRole('button', { name: `${ended.total_logs - total_logs} new` }).waitFor()
  expect(await page.locator(`#${id}`).boundingBox()).toEqual(position)
  await page.getByRole('button', { name: / new$/ }).click()
  await feed.getByText('All done.').waitFor()
  await end.waitFor({ state: 'detached' })
})

test('title, tags, archive, model and budget are configured on the page', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('To configure', 'answer: "Done."') })
  await someone.open(`/agent/trace/${run.id}?view=config`)
  await untilStatus(page, 'completed')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.locator('header').getByLabel('Title').fill('Renamed inline')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Renamed inline' }).waitFor()
  const config = page.getByRole('tabpanel')
  await config.getByLabel('Title').fill('A better title')
  await config.getByLabel('Tags').fill('urgent')
  await config.getByLabel('Tags').press('Enter')
  await config.getByText(/^Archived/).click()
  await config.getByLabel('Max steps').fill('7')
  await config.getByLabel('Active minutes').fill('10')
  await config.getByRole('button', { name: 'Save' }).click()
  await config.getByText('Saved').waitFor()
  await page.getByRole('heading', { name: 'A better title' }).waitFor()
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run.id}`)
  expect(body).toMatchObject({
    title: 'A better title',
    tags: ['urgent'],
    archived: true,
    budget: { max_steps: 7, max_active_seconds: 600 },
  })
  await page.getByRole('button', { name: 'Unarchive' }).click()
  await page.getByRole('button', { name: 'Archive' }).waitFor()
})

test('an unknown model is refused at its field', async () => {
  await using someone = await visit({ accept: /400 \(Bad Request\)/ })
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('Model', 'answer: "Done."') })
  await someone.open(`/agent/trace/${run.id}?view=config`)
  await page.getByLabel('Model of the next turn').selectOption({ label: 'Another model…' })
  await page.getByLabel('Name of the model').fill('nobody/nothing')
  await page.getByRole('button', { name: 'Save' }).click()
  await page
    .getByText(/Unknown model/)
    .first()
    .waitFor()
})

test('a page that loses its connection shows it, and catches up without a gap', async () => {
  await using network = await networkTo(app.base_url)
  await using someone = await visit({
    base_url: network.base_url,
    accept: /ERR_(CONNECTION|EMPTY|INCOMPLETE|SOCKET)/,
  })
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('Seen in part', 'answer: "One."') })
  await someone.open(`/agent/trace/${run.id}`)
  await untilStatus(page, 'completed')
  network.cut()
  await page.getByText('Reconnecting…').waitFor()
  const prompt = playbook('Unseen', 'run: echo unseen', 'answer: "Two."')
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: run.id, prompt })
  const { total_logs } = await awaitRun(
    app,
    run.id,
    ({ status, turn }) => status === 'completed' && turn === 2,
  )
  network.restore()
  await page.locator(`#e${total_logs}`).getByText('Two.').waitFor()
  await page.getByText('Reconnecting…').waitFor({ state: 'detached' })
  const seen = await page
    .getByRole('feed')
    .locator('article')
    .evaluateAll((articles: { id: string }[]) => articles.map(({ id }) => id))
  expect(seen).toEqual(Array.from({ length: total_logs }, (_, i) => `e${i + 1}`).slice(-seen.length))
})

test('a related run that continues changes without a reload, also when its parent has ended', async () => {
  await using someone = await visit()
  const { page } = someone
  const parent = await createRun(app, { prompt: playbook('Parent', 'answer: Done.') })
  await awaitEnd(app, parent.id)
  const child = await createRun(app, { prompt: playbook('Child', 'ask: "Which?"'), parent_run_id: parent.id })
  await someone.open(`/agent/trace/${parent.id}`)
  const related = page.getByRole('region', { name: 'Related runs' })
  await related.getByText('waiting').waitFor()
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: child.id })
  await related.getByText('cancelled').waitFor()
})
