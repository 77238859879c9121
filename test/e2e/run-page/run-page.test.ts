import { expect, test } from 'vitest'
import { awaitEnd, awaitRun, createRun } from '../../runs/await-run.ts'
import { startApp } from '../../start-app.ts'
import { inBrowser, playbook, untilStatus } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())

const many = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `run: printf 'output %s\\n' ${from + i}`)

test('a run that its budget paused continues from the header with twice the budget', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, {
    prompt: playbook('Three steps', ...many(1, 2), 'answer: "Done."'),
    budget: { max_steps: 2 },
  })
  await someone.open(`/agent/trace/${run.id}`)
  await untilStatus(page, 'paused')
  const next = page.getByRole('region', { name: 'What to do next' })
  await page.getByRole('tabpanel').getByText('Step limit reached (2)').waitFor()
  await next.getByRole('button', { name: 'Raise to 4 steps and continue' }).click()
  await untilStatus(page, 'completed')
  await next.waitFor({ state: 'detached' })
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run.id}`)
  expect(body.budget.max_steps).toBe(4)
})

test('a message to a run that its budget paused raises the limit too, and the page names no field of the API', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, {
    prompt: playbook('Three steps', ...many(1, 2), 'answer: "Done."'),
    budget: { max_steps: 2 },
  })
  await someone.open(`/agent/trace/${run.id}`)
  await untilStatus(page, 'paused')
  await page.getByRole('tabpanel').getByText('Step limit reached (2)').waitFor()
  expect(await page.locator('main').textContent()).not.toContain('max_steps')
  const form = page.getByRole('form', { name: 'Follow-up' })
  await form.getByRole('button', { name: 'Raise to 4 steps and continue' }).click()
  await untilStatus(page, 'completed')
})

test('a question is answered from the header, and successful commands before the last ones are one line', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, {
    prompt: playbook('Many steps', ...many(1, 14), 'ask: "Which colour?"', 'answer: "Thanks."'),
  })
  await awaitRun(app, run.id, ({ status }) => status === 'waiting')
  await someone.open(`/agent/trace/${run.id}`)
  await page.getByRole('region', { name: 'What to do next' }).getByRole('button', { name: 'Reply' }).click()
  await page.locator('#follow-up:focus').waitFor()
  const feed = page.getByRole('feed')
  await feed.locator('pre', { hasText: 'output 14' }).waitFor()
  await feed.evaluate((box: { scrollTop: number }) => {
    box.scrollTop = 0
  })
  await feed.getByText('Cloned', { exact: true }).waitFor()
  const earlier = feed.locator('[data-type=ACTION]').filter({ hasText: "printf 'output %s\\n' 2" })
  await earlier.waitFor()
  expect(await earlier.locator('pre').count()).toBe(0)
  await earlier.getByRole('button', { name: /shell/ }).click()
  await earlier.locator('pre', { hasText: 'output 2' }).waitFor()
  await page.getByRole('textbox', { name: 'Your answer' }).fill('Blue')
  await page.keyboard.press('Control+Enter')
  await untilStatus(page, 'completed')
})

test('a run is opened at the end of its answer, with lists and tables that are rendered later', async () => {
  await using someone = await visit()
  const { page } = someone
  const answer = `answer: ${JSON.stringify(`# Rates\n\n| from | to |\n|---|---|\n${'| a | b |\n'.repeat(12)}\n${'- a line\n'.repeat(12)}\nThe end.`)}`
  const run = await createRun(app, { prompt: playbook('Explain the rates', ...many(1, 14), answer) })
  await awaitEnd(app, run.id)
  await someone.open(`/agent/trace/${run.id}`)
  const feed = page.getByRole('feed')
  await feed.getByRole('table').waitFor()
  await page.locator('#follow-up').waitFor()
  await page.waitForFunction(`(() => {
    const { scrollTop, clientHeight, scrollHeight } = document.querySelector('[role=feed]')
    return scrollHeight - clientHeight - scrollTop < 2
  })()`)
})

test('a failed command shows the end of its output, and the run is forked before its error', async () => {
  await using someone = await visit()
  const { page } = someone
  const fails = 'run: "seq 1 40; echo AssertionError: 3 is not 4; exit 1"'
  const run = await createRun(app, { prompt: playbook('Fails', 'run: echo first', fails) })
  await awaitEnd(app, run.id)
  await someone.open(`/agent/trace/${run.id}`)
  const entry = page.locator('[data-type=ACTION]').filter({ hasText: 'seq 1 40' })
  await entry.getByText('AssertionError: 3 is not 4').first().waitFor()
  await entry.getByRole('button', { name: 'Show 25 earlier lines' }).waitFor()
  await page.getByRole('feed').getByText('Cloned', { exact: true }).waitFor()
  const next = page.getByRole('region', { name: 'What to do next' })
  await next.getByRole('button', { name: 'Retry' }).waitFor()
  await next.getByRole('button', { name: 'Fork before this error' }).click()
  await page
    .getByRole('textbox', { name: 'What should it do?' })
    .fill(playbook('Otherwise', 'answer: "Forked."'))
  await page.getByRole('dialog').getByRole('button', { name: 'Fork', exact: true }).click()
  await page.getByRole('region', { name: 'Answer' }).getByText('Forked.').waitFor()
  await page
    .getByRole('region', { name: 'Related runs' })
    .getByRole('link', { name: `#${run.id}` })
    .waitFor()
  expect(await page.getByRole('article').filter({ hasText: 'AssertionError' }).count()).toBe(0)
})

test('a comment on a changed file becomes a part of the follow-up, and a viewed file stays closed', async () => {
  await using someone = await visit()
  const { page } = someone
  const code = 'write: { path: src/a.ts, content: "export const one = 1\\n" }'
  const steps = [
    code,
    'write: { path: docs/a.md, content: "one\\ntwo\\n" }',
    'write: { path: docs/b.md, content: "three\\n" }',
  ]
  const run = await createRun(app, { prompt: playbook('Three files', ...steps, 'answer: "Written."') })
  await awaitEnd(app, run.id)
  await someone.open(`/agent/trace/${run.id}?view=changes`)
  const file = page.getByRole('region', { name: 'docs/a.md' })
  await page.getByRole('button', { name: 'b.md added', exact: true }).waitFor()
  await page.getByRole('region', { name: 'src/a.ts' }).locator('.keyword', { hasText: 'export' }).waitFor()
  await file.getByText('two').hover()
  await file.getByRole('button', { name: 'Comment on line 2' }).click()
  await page.getByPlaceholder('What should change here?').fill('Say it in words.')
  await page.keyboard.press('Control+Enter')
  const follow_up = page.getByRole('textbox', { name: /Follow up/ })
  await expect
    .poll(() => follow_up.inputValue())
    .toBe('In `docs/a.md`, line 2:\n\n```\ntwo\n```\n\nSay it in words.')
  await file.getByRole('checkbox', { name: 'Viewed' }).check()
  await file.getByText('two').waitFor({ state: 'detached' })
  await page.getByText('1 of 3 viewed').waitFor()
  await page.reload()
  await page.getByText('1 of 3 viewed').waitFor()
  expect(await follow_up.inputValue()).toContain('Say it in words.')
  const write = page.locator('[data-type=ACTION]').filter({ hasText: 'docs/b.md' }).first()
  await write.getByRole('link', { name: /^Link to entry/ }).click()
  await page.getByRole('combobox', { name: 'Steps whose changes are shown' }).selectOption('only')
  await file.waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'docs/b.md' }).waitFor()
})

test('two runs are compared from the menu of one: facts, steps and the first difference', async () => {
  await using someone = await visit()
  const { page } = someone
  const create = (title: string, last: string) =>
    createRun(app, { prompt: playbook(title, ...many(1, 2), last, 'answer: "Done."') })
  const [a, b] = await Promise.all([
    create('Attempt one', 'run: echo left'),
    create('Attempt two', 'run: echo right'),
  ])
  await Promise.all([awaitEnd(app, a.id), awaitEnd(app, b.id)])
  await someone.open(`/agent/trace/${b.id}`)
  await untilStatus(page, 'completed')
  await page.getByRole('button', { name: 'Actions of the run' }).click()
  await page.getByRole('menuitem', { name: 'Compare with another run' }).click()
  await page.getByRole('textbox', { name: 'Number of the other run' }).fill(String(a.id))
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByRole('heading', { name: `Run ${a.id} and run ${b.id}` }).waitFor()
  await page.getByRole('row', { name: /^Status/ }).waitFor()
  const { body: repository } = await app.call('GET', `/v1/organizations/${app.org_id}/repos/${app.repo_id}`)
  await page
    .getByRole('row', { name: `Repository ${repository.full_name} ${repository.full_name}` })
    .waitFor()
  await page
    .getByTestId('divergence')
    .getByText(/^The first difference is at step/)
    .waitFor()
  const steps = page.getByRole('region', { name: 'Steps' })
  await steps.getByText('echo left').waitFor()
  await steps.getByText('echo right').waitFor()
})

test('on a phone the actions of a run are in a menu, and a run that has ended is deleted there', async () => {
  await using someone = await visit({ viewport: { width: 390, height: 844 }, path: '/' })
  const { page } = someone
  const run = await createRun(app, {
    prompt: playbook('On a phone with a title that is rather long', 'ask: "Go on?"'),
  })
  await awaitRun(app, run.id, ({ status }) => status === 'waiting')
  await someone.open(`/agent/trace/${run.id}`)
  const title = page.getByRole('heading', { name: /^On a phone/ })
  expect((await title.boundingBox())?.width).toBeGreaterThan(200)
  const menu = page.getByRole('button', { name: 'Actions of the run' })
  await menu.click()
  await page.getByRole('menuitem', { name: 'Stop', exact: true }).click()
  await untilStatus(page, 'cancelled')
  await menu.click()
  await page.getByRole('menuitem', { name: 'Delete run' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete run' }).click()
  await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run.id}`)).status).toBe(404)
})

test('a run that someone else deletes is no longer live, and the page does not request it again', async () => {
  await using someone = await visit()
  const { page } = someone
  const run = await createRun(app, { prompt: playbook('Deleted elsewhere', 'answer: "Done."') })
  await awaitEnd(app, run.id)
  const stream = page.waitForResponse(response => response.url().endsWith(`/run/${run.id}/events`))
  await someone.open(`/agent/trace/${run.id}`)
  await stream
  await page.getByRole('tabpanel').getByText('Done.').waitFor()
  await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${run.id}`)
  await page.getByText('Not live: The run was deleted').waitFor()
})
