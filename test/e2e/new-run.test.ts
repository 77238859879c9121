import { expect, test } from 'vitest'
import { SAMPLE_PROMPT } from '../../src/core/repositories/sample.ts'
import { awaitRun, createRun } from '../runs/await-run.ts'
import { rows, startApp } from '../start-app.ts'
import { inBrowser, playbook, untilStatus } from './visit.ts'

/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const { app, visit } = await inBrowser(startApp())

test('the sample playbook: a live trace, the change, the pull request, completed', async () => {
  await using someone = await visit({ path: '/new' })
  const { page } = someone
  await page.getByText('No language model is configured').waitFor()
  await page.getByRole('button', { name: 'Use the sample playbook' }).click()
  expect(await page.getByRole('textbox', { name: 'Describe the task' }).inputValue()).toBe(SAMPLE_PROMPT)
  await page.getByRole('button', { name: 'Start run' }).click()
  await page.waitForURL(/\/agent\/trace\/\d+$/)
  await untilStatus(page, 'completed')
  const feed = page.getByRole('feed')
  await feed.getByText('Tax is now taken from the amount after the discount').waitFor()
  await feed.getByText(/^main ← agent\/run-1-/).waitFor()
  await page.locator('header').getByText('scripted/playbook').waitFor()
  await page.getByRole('tab', { name: /Changes/ }).click()
  expect(await page.getByTestId('diff-summary').textContent()).toBe('1 file changed +3 −2')
  await page.locator('.diff-code-insert').getByText('return net + tax').waitFor()
  await page
    .locator('.diff-code-delete')
    .getByText('return net - discount(net, discount_percent) + tax')
    .waitFor()
  await page.getByRole('tab', { name: 'Answer' }).click()
  await page.getByRole('region', { name: 'Answer' }).getByText('All three tests pass').waitFor()
})

test('everything that can be set is sent', async () => {
  await using someone = await visit({ path: '/new' })
  const { page } = someone
  await page.getByRole('textbox', { name: 'Describe the task' }).fill(playbook('Look', 'answer: Seen.'))
  await page.getByLabel('Base branch').fill('main')
  await page.getByLabel('Model').selectOption('scripted/playbook')
  await page.getByText('Advanced').click()
  await page.getByLabel('Reasoning effort').selectOption('xhigh')
  await page.getByLabel('Review').selectOption('rules')
  await page.getByLabel('Title').fill('A title of my own')
  await page.getByLabel('Tags').fill('one,two')
  await page.getByLabel('Tags').press('Enter')
  await page.getByText('Tools of the agent').first().click()
  for (const tool of ['start_run', 'ask']) await page.getByText(tool, { exact: true }).click()
  await page.getByText('Tools of the agent: without start_run, ask').waitFor()
  await page.getByLabel('Max cost (USD)').fill('2.50')
  await page.getByLabel('Max steps').fill('40')
  await page.getByLabel('Active minutes').fill('1.5')
  await page.getByText('Open a pull request with the change').click()
  await page.getByRole('textbox', { name: 'Describe the task' }).press('Control+Enter')
  await page.waitForURL(/\/agent\/trace\/\d+$/)
  const id = Number(page.url().split('/').at(-1))
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)
  expect(body).toMatchObject({
    title: 'A title of my own',
    tags: ['one', 'two'],
    model: 'scripted/playbook',
    reasoning_effort: 'xhigh',
    review: 'rules',
    tools_off: ['start_run', 'ask'],
    base_ref: 'main',
    repo_id: app.repo_id,
    budget: { max_cost_usd: '2.5', max_steps: 40, max_active_seconds: 90, max_wall_seconds: null },
  })
  expect(await rows(app, 'select auto_create_pr from runs where id = $1', [id])).toEqual([
    { auto_create_pr: false },
  ])
})

test('images are chosen, pasted and dropped into the prompt, removed, and sent', async () => {
  await using someone = await visit({ path: '/new' })
  const { page } = someone
  const prompt = page.getByRole('textbox', { name: 'Describe the task' })
  await prompt.fill(playbook('See', 'answer: Seen.'))
  await page.locator('input[type=file]').setInputFiles([
    { name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') },
    { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') },
  ])
  await page.getByText('Only PNG, JPEG, GIF and WebP images can be added').first().waitFor()
  for (const event of [
    "ClipboardEvent('paste', { clipboardData: data, ",
    "DragEvent('drop', { dataTransfer: data, ",
  ]) {
    await page.evaluate(`(() => {
      const data = new DataTransfer()
      data.items.add(new File([Uint8Array.from(atob('${PIXEL}'), char => char.charCodeAt(0))], 'b.png', { type: 'image/png' }))
      document.querySelector('textarea[name=prompt]').dispatchEvent(new ${event} bubbles: true, cancelable: true }))
    })()`)
  }
  await page.getByRole('img', { name: 'Attachment 3' }).waitFor()
  await page.getByRole('button', { name: 'Remove image 3' }).click()
  await expect.poll(() => page.getByRole('img', { name: /Attachment/ }).count()).toBe(2)
  await page.getByRole('button', { name: 'Start run' }).click()
  await page.waitForURL(/\/agent\/trace\/\d+$/)
  const id = Number(page.url().split('/').at(-1))
  const [message] = await rows(app, 'select images from messages where run_id = $1', [id])
  expect(JSON.parse(message?.images)).toEqual(Array(2).fill(`data:image/png;base64,${PIXEL}`))
  const feed = page.getByRole('feed')
  await feed.getByRole('img', { name: 'Image 1 of 2' }).waitFor()
  await feed.getByRole('button', { name: 'Image 2 of 2' }).click()
  await page.getByRole('dialog', { name: 'Image 2 of 2' }).getByRole('img').waitFor()
})

test('what the service refuses is shown at its field, and nothing typed is lost', async () => {
  await using someone = await visit({ accept: /400 \(Bad Request\)/, path: '/new' })
  const { page } = someone
  await page.getByRole('textbox', { name: 'Describe the task' }).fill('```playbook\n- dance: now\n```')
  await page.getByLabel('Base branch').fill('no-such-branch')
  await page.getByText('Advanced').click()
  await page.getByLabel('Max steps').fill('0')
  // Also a field that is hidden is shown and focused when it is refused.
  await page.getByText('Advanced').click()
  await page.getByLabel('Max steps').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Start run' }).click()
  await page.getByLabel('Max steps').and(page.locator('[aria-invalid]')).waitFor()
  await expect
    .poll(() => page.getByLabel('Max steps').evaluate(element => element.matches(':focus')))
    .toBe(true)
  await page.getByLabel('Max steps').fill('5')
  await page.getByRole('button', { name: 'Start run' }).click()
  await page.getByRole('textbox', { name: 'Describe the task' }).and(page.locator('[aria-invalid]')).waitFor()
  await page.getByText(/dance/).nth(1).waitFor()
  expect(await page.getByLabel('Base branch').inputValue()).toBe('no-such-branch')
})

test('a dry run shows in the form what the run would do, and focuses the first field that prevents it', async () => {
  await using someone = await visit()
  const { page } = someone
  const runs = async () => (await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)).body.total
  const before = await runs()
  await someone.open('/new')
  await page.getByRole('textbox', { name: 'Describe the task' }).fill(playbook('Look', 'answer: Seen.'))
  const base = page.getByLabel('Base branch')
  await base.fill('no-such-branch')
  const dry_run = page.getByRole('button', { name: 'Dry run' })
  await dry_run.click()
  const result = page.getByRole('status', { name: 'Dry run' })
  await result.getByText('This run cannot start yet').waitFor()
  await base.and(page.locator('[aria-invalid]:focus')).waitFor()
  await page.getByText(/^No branch, tag or commit "no-such-branch"/).waitFor()
  await base.fill('main')
  await result.waitFor({ state: 'detached' })
  await dry_run.click()
  await result.getByText('This run can start').waitFor()
  await result.getByText(/^main, commit [0-9a-f]{12}$/).waitFor()
  await result.getByText('sample/invoice').waitFor()
  expect(await runs()).toBe(before)
})

test('an empty prompt cannot be sent, and the button explains why', async () => {
  await using someone = await visit({ path: '/new' })
  const { page } = someone
  const start = page.getByRole('button', { name: 'Start run' })
  expect(await start.getAttribute('aria-description')).toBe('Describe the task first')
  await start.focus()
  await page.keyboard.press('Enter')
  expect(new URL(page.url()).pathname).toBe('/new')
})

test('a reader sees everything, can change nothing, and sees the reason', async () => {
  const asking = await createRun(app, { prompt: playbook('Asks', 'ask: "Which colour?"') })
  await awaitRun(app, asking.id, ({ status }) => status === 'waiting')
  await rows(app, `update memberships set role = 'READER'`)
  try {
    await using someone = await visit({ path: '/new' })
    const { page } = someone
    await page.getByRole('heading', { name: 'You do not have access' }).waitFor()
    expect(await page.getByRole('textbox').count()).toBe(0)
    await page.locator('button[aria-description*=READER]', { hasText: 'New run' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search and commands' }).fill('theme')
    await page.getByRole('option', { name: 'Dark theme' }).waitFor()
    await page.getByRole('combobox', { name: 'Search and commands' }).fill('new run')
    await page.getByRole('option', { name: 'Dark theme' }).waitFor({ state: 'detached' })
    expect(await page.getByRole('option', { name: 'New run' }).count()).toBe(0)
    await someone.open('/settings/profile')
    await page.getByText('Your role, READER, may not change your profile.').waitFor()
    await someone.open('/agent/trace/1')
    await untilStatus(page, 'completed')
    await page.getByText('Your role, READER, can view runs but not change them.').waitFor()
    expect(await page.getByRole('form', { name: 'Follow-up' }).count()).toBe(0)
    await page.getByRole('tab', { name: 'Config' }).click()
    const config = page.getByRole('tabpanel', { name: 'Config' })
    await config.getByText('Your role, READER, can view runs but not change them.').waitFor()
    expect(
      await config.locator('input:enabled, select:enabled, textarea:enabled, button[type=submit]').count(),
    ).toBe(0)
    expect(await config.getByLabel('Title').isDisabled()).toBe(true)
    await someone.open(`/agent/trace/${asking.id}`)
    await untilStatus(page, 'waiting')
    await page.getByText('Your role, READER, can view runs but not change them.').waitFor()
    expect(await page.getByRole('button', { name: 'Reply' }).count()).toBe(0)
  } finally {
    await rows(app, `update memberships set role = 'ADMIN'`)
  }
})
