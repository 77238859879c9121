import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { rows, startApp } from '../start-app.ts'
import { inBrowser, playbook } from './visit.ts'

const { app, visit } = await inBrowser(startApp())

test('the list of a fresh start is empty and offers the sample', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
  await page.getByRole('link', { name: 'Try it on the sample repository' }).click()
  await page.getByRole('textbox', { name: 'Describe the task' }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Describe the task' }).inputValue()).toContain('```playbook')
})

test('a run created through the API appears, and changes, without a reload', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  await page.evaluate('window.not_reloaded = true')
  const run = await createRun(app, {
    prompt: playbook('Created by curl', 'run: "true"', 'answer: Done.'),
    tags: ['from-api'],
  })
  const row = page.locator(`[data-run-id="${run.id}"]`)
  await row.getByText('Created by curl').waitFor()
  await row.getByText('from-api').waitFor()
  await row.getByText('completed').waitFor()
  await row.getByText('scripted').waitFor()
  expect(await page.evaluate('window.not_reloaded')).toBe(true)
  await row.getByText('from-api').click()
  await page.waitForURL(/tag=from-api/)
  expect(await page.getByRole('searchbox', { name: 'Tag' }).inputValue()).toBe('from-api')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.waitForURL(`${app.base_url}/`)
})

test('filters are in the address, apply to what comes in live, and survive a reload', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  const failing = await createRun(app, { prompt: playbook('This one fails', 'run: "false"') })
  await awaitEnd(app, failing.id)
  await page.getByLabel('Status').selectOption('failed')
  await page.getByLabel('Text in title or prompt').fill('one fails')
  await page.waitForURL(/status=failed/)
  await page.waitForURL(/q=one(\+|%20)fails/)
  await page.locator(`[data-run-id="${failing.id}"]`).waitFor()
  expect(await page.locator('[data-run-id]').count()).toBe(1)
  const second = await createRun(app, { prompt: playbook('Another one fails', 'run: "false"') })
  await page.locator(`[data-run-id="${second.id}"]`).waitFor()
  await page.reload()
  await page.locator(`[data-run-id="${second.id}"]`).waitFor()
  expect(await page.getByLabel('Text in title or prompt').inputValue()).toBe('one fails')
  expect(await page.locator('[data-run-id]').count()).toBe(2)
  await page.getByLabel('Text in title or prompt').fill('nothing is called like this')
  await page.getByRole('heading', { name: 'No run matches' }).waitFor()
  await page.getByRole('link', { name: 'Remove all filters' }).click()
  await page.getByText('Created by curl').waitFor()
})

test('an archived run leaves the list and is found among the archived', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('To be archived', 'answer: Done.') })
  await awaitEnd(app, run.id)
  const row = page.locator(`[data-run-id="${run.id}"]`)
  await row.waitFor()
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/archive`, { agent_run_id: run.id })
  await row.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Archived' }).click()
  await row.waitFor()
})

test('a long list is loaded in pages, newest first', async () => {
  await using someone = await visit()
  const { page } = someone
  await rows(
    app,
    `insert into runs (
        organization_id, user_id, title, prompt, tags, model, agent_type, source_type, status, runnable_at
      )
      select organization_id, user_id, 'Bulk ' || n, 'x', '{bulk}', model, agent_type, source_type,
        'completed', null
      from runs, generate_series(1, 120) n
      where id = (select min(id) from runs)`,
  )
  await someone.open('/?tag=bulk')
  await page.getByText('Bulk 120', { exact: true }).waitFor()
  expect(await page.locator('[data-run-id]').count()).toBe(50)
  await page.getByRole('button', { name: 'Load 50 older runs' }).click()
  await page.getByText('Bulk 21', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Load 20 older runs' }).click()
  await page.getByText('Bulk 1', { exact: true }).waitFor()
  expect(await page.locator('[data-run-id]').count()).toBe(120)
})

test('a row shows where a run comes from, why it failed, and its pull request with its checks', async () => {
  await using someone = await visit()
  const { page } = someone
  const first = await createRun(app, {
    prompt: playbook('אבג', 'write: { path: "rtl.txt", content: "x\\n" }', 'answer: Done.'),
  })
  await awaitEnd(app, first.id)
  const { body: fork } = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/fork`, {
    agent_run_id: first.id,
    from_seq: 1,
  })
  await awaitEnd(app, fork.id)
  const child = await createRun(app, {
    prompt: playbook('A child', 'answer: Done.'),
    parent_run_id: first.id,
  })
  await awaitEnd(app, child.id)
  await rows(app, `update runs set status = 'failed', status_reason = 'oom' where id = ${child.id}`)
  await someone.open('/')
  const row = (id: number) => page.locator(`[data-run-id="${id}"]`)
  await row(fork.id).getByText(`fork of #${first.id}`).waitFor()
  await row(child.id).getByText(`child of #${first.id}`).waitFor()
  await row(child.id).getByText('out of memory').waitFor()
  const [{ number, id }] = (
    await app.call('GET', `/v1/organizations/${app.org_id}/prs?agent_run_id=${first.id}`)
  ).body.items
  const link = row(first.id).getByRole('link', { name: `#${number} open` })
  // A title from right to left does not reorder the number.
  expect(await link.locator('bdi').textContent()).toBe(`#${number}`)
  await link.click()
  await page.waitForURL(`${app.base_url}/pull-requests/${id}`)
})

test('a list is filtered by person, model, source, reason and day, and the filters are kept as a view', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  const listed = page.locator('[data-run-id]')
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByRole('combobox', { name: 'Reason' }).selectOption({ label: 'out of memory' })
  await page.waitForURL(/reason=oom/)
  await page.getByText('A child', { exact: true }).waitFor()
  expect(await listed.count()).toBe(1)
  await page.getByRole('combobox', { name: 'Source' }).selectOption({ label: 'Slack' })
  await page.getByRole('heading', { name: 'No run matches' }).waitFor()
  await page.getByRole('combobox', { name: 'Source' }).selectOption({ label: 'API' })
  await page.getByRole('combobox', { name: 'Person' }).selectOption({ index: 1 })
  await page.waitForURL(/user=\d+/)
  await page.getByText('A child', { exact: true }).waitFor()
  await page.getByLabel('Created to').fill('2020-01-01')
  await page.getByRole('heading', { name: 'No run matches' }).waitFor()
  await page.getByLabel('Created to').fill('')
  await page.getByText('A child', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('textbox', { name: 'Name of the view' }).fill('Memory')
  await page.keyboard.press('Enter')
  const views = page.getByRole('navigation', { name: 'Views' })
  await views.getByRole('link', { name: 'All' }).click()
  await page.waitForURL(`${app.base_url}/`)
  await page.reload()
  await views.getByRole('link', { name: 'Memory' }).click()
  await page.waitForURL(/reason=oom/)
  await page.getByText('A child', { exact: true }).waitFor()
  expect(await listed.count()).toBe(1)
  await views.getByRole('button', { name: 'Remove the view Memory' }).click()
  expect(await views.getByRole('link', { name: 'Memory' }).count()).toBe(0)
  await views.getByRole('link', { name: 'Active', exact: true }).click()
  await page.getByRole('heading', { name: 'No run matches' }).waitFor()
})

test('selected runs are tagged, stopped, archived and deleted together', async () => {
  await using someone = await visit()
  const { page } = someone
  const tags = ['several']
  const runs = [
    await createRun(app, { prompt: playbook('Asks one', 'ask: "Which?"'), tags }),
    await createRun(app, { prompt: playbook('Asks two', 'ask: "Which?"'), tags }),
  ]
  const read = async (id: number) =>
    (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body
  await someone.open('/?tag=several')
  for (const { id } of runs) await page.locator(`[data-run-id="${id}"]`).getByText('waiting').waitFor()
  const selected = page.getByRole('region', { name: 'Selected runs' })
  await page.getByRole('checkbox', { name: `Select run ${runs[0]?.id}` }).check()
  await selected.getByRole('button', { name: 'Select all 2' }).click()
  await selected.getByText('2 selected').waitFor()

  await selected.getByRole('button', { name: 'Add tags' }).click()
  const tag_dialog = page.getByRole('dialog', { name: 'Add tags to 2 runs' })
  await tag_dialog.getByRole('textbox', { name: 'Tags' }).fill('both')
  await page.keyboard.press('Enter')
  await tag_dialog.getByRole('button', { name: 'Add tags' }).click()
  await page.getByText('2 runs tagged').first().waitFor()
  expect(await Promise.all(runs.map(async ({ id }) => (await read(id)).tags))).toEqual([
    ['several', 'both'],
    ['several', 'both'],
  ])

  await selected.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop 2 runs' }).click()
  for (const { id } of runs) await page.locator(`[data-run-id="${id}"]`).getByText('cancelled').waitFor()

  await selected.getByRole('button', { name: 'Archive' }).click()
  await page.getByRole('heading', { name: 'No run matches' }).waitFor()
  expect(await Promise.all(runs.map(async ({ id }) => (await read(id)).archived))).toEqual([true, true])

  await someone.open('/?tag=several&archived=true')
  await page.getByRole('checkbox', { name: `Select run ${runs[0]?.id}` }).check()
  await selected.getByRole('button', { name: 'Select all 2' }).click()
  await selected.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 runs' }).click()
  await page.getByRole('heading', { name: 'No run matches' }).waitFor()
  const statuses = runs.map(
    async ({ id }) => (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).status,
  )
  expect(await Promise.all(statuses)).toEqual([404, 404])
})

test('a message is shown in front of an open dialog, and can be dismissed there', async () => {
  await createRun(app, { prompt: playbook('Refused', 'answer: "x"'), tags: ['refused'] })
  await using someone = await visit({ accept: /status of 409/ })
  const { page } = someone
  const problem = {
    type: 'about:blank',
    title: 'Conflict',
    status: 409,
    code: 'conflict',
    detail: 'It is locked.',
  }
  await page.route('**/agent/run/*', (route, request) =>
    request.method() === 'PATCH' ? route.fulfill({ status: 409, json: problem }) : route.continue(),
  )
  await someone.open('/?tag=refused')
  await page.getByRole('checkbox', { name: /^Select run/ }).check()
  await page.getByRole('region', { name: 'Selected runs' }).getByRole('button', { name: 'Add tags' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add tags to 1 run' })
  await dialog.getByRole('textbox', { name: 'Tags' }).fill('more')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Add tags' }).click()
  await dialog.getByText('1 run could not be tagged').first().waitFor()
  await dialog.getByRole('button', { name: 'Dismiss' }).click()
  await dialog.getByRole('button', { name: 'Dismiss' }).waitFor({ state: 'detached' })
  await dialog.getByRole('textbox', { name: 'Tags' }).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByRole('button', { name: 'Add tags' }).click()
  await dialog.getByRole('textbox', { name: 'Tags' }).waitFor()
  expect(await dialog.getByText('could not be tagged').count()).toBe(0)
})

test('a reader cannot select runs', async () => {
  await using someone = await visit({ path: '/' })
  const { page } = someone
  await rows(app, `update memberships set role = 'READER'`)
  try {
    await page.reload()
    await page.locator('[data-run-id]').first().waitFor()
    await expect.poll(() => page.getByRole('checkbox').count()).toBe(0)
  } finally {
    await rows(app, `update memberships set role = 'ADMIN'`)
  }
})
