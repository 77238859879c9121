import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun } from '../../runs/await-run.ts'
import { rows, startApp } from '../../start-app.ts'
import { expectAccessible, inBrowser, playbook, untilStatus } from '../visit.ts'

const { app, visit } = await inBrowser(startApp())

const bad_name = '<img src=x onerror=alert(1)>'
const run = await createRun(app, {
  prompt: playbook(
    'Write files',
    'write: { path: "lib/deep/rate.ts", content: "export const rate = 1\\n" }',
    'write: { path: "lib/deep/rate.ts", content: "export const rate = 22\\n" }',
    `run: "printf '\\\\0\\\\1' > data.bin; ln -s lib target; touch '${bad_name}'; mkdir many; seq -f 'many/%04g' 600 | xargs touch"`,
    'answer: "Done."',
  ),
})
await awaitEnd(app, run.id)
const at = (await allLogs(app, run.id)).filter(({ tool_name }) => tool_name === 'write').map(({ seq }) => seq)

test('the files of the selected entry are browsed with the keyboard, and the address restores what is shown', async () => {
  await using someone = await visit({ path: `/agent/trace/${run.id}?view=files` })
  const { page } = someone
  const tree = page.getByRole('tree', { name: 'Files' })
  const item = (name: string) => tree.getByRole('treeitem', { name })
  await page.getByTestId('files-at').filter({ hasText: 'latest' }).waitFor()
  expect(await tree.locator('[tabindex="0"]').count()).toBe(1)
  await item('lib').first().focus()
  await page.keyboard.press('ArrowRight')
  await item('deep').waitFor()
  for (const key of ['ArrowDown', 'ArrowRight']) await page.keyboard.press(key)
  await item('rate.ts').waitFor()
  for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key)
  const content = page.getByRole('region', { name: 'Content' })
  await content.locator('.keyword', { hasText: 'export' }).first().waitFor()
  expect(await content.locator('code').textContent()).toBe('export const rate = 22\n')
  expect(await tree.locator('[tabindex="0"]').count()).toBe(1)
  await expectAccessible(someone, 'a file beside the tree')

  await page.reload()
  await content.locator('code', { hasText: '22' }).waitFor()
  expect(await item('rate.ts').getAttribute('aria-selected')).toBe('true')
  await item('rate.ts').focus()
  for (const key of ['ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key)
  await item('rate.ts').waitFor({ state: 'detached' })
  await page.goBack()
  await content.waitFor({ state: 'detached' })
})

test('the files follow the entry that is selected in the feed, and a link leads to the latest', async () => {
  await using someone = await visit({
    accept: /404/,
    path: `/agent/trace/${run.id}?view=files&file=lib%2Fdeep%2Frate.ts#e${at[0]}`,
  })
  const { page } = someone
  const code = page.getByRole('region', { name: 'Content' }).locator('code')
  await code.filter({ hasText: 'rate = 1' }).waitFor()
  await page
    .getByTestId('files-at')
    .filter({ hasText: `Files after entry ${at[0]}` })
    .waitFor()
  await page.getByRole('feed').locator('article:focus').waitFor()
  await page.keyboard.press('j')
  await code.filter({ hasText: 'rate = 22' }).waitFor()
  for (let step = 0; step < 2; step++) await page.keyboard.press('k')
  await page.getByRole('heading', { name: 'No file' }).waitFor()
  await expectAccessible(someone, 'a file that does not exist')
  await page.getByText(`The run has nothing at this path after entry ${Number(at[0]) - 1}.`).waitFor()
  await page.getByRole('tabpanel').getByRole('link', { name: 'Show the latest' }).first().click()
  await code.filter({ hasText: 'rate = 22' }).waitFor()
  expect(new URL(page.url()).hash).toBe('')
})

test('a search, hostile names, links, binary files, a large folder and a download', async () => {
  await using someone = await visit({ acceptDownloads: true, path: `/agent/trace/${run.id}?view=files` })
  const { page } = someone
  const tree = page.getByRole('tree', { name: 'Files' })
  await tree.getByRole('treeitem', { name: bad_name }).click()
  await page.getByText('The file is empty.').waitFor()
  await tree.getByRole('treeitem', { name: 'target' }).click()
  await page.getByText('Links are not followed.').waitFor()
  await tree.getByRole('treeitem', { name: 'data.bin' }).click()
  await page.getByText('A binary file: its content is not shown.').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download file' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('data.bin')
  expect([...(await readFile(await download.path()))]).toEqual([0, 1])

  await tree.getByRole('treeitem', { name: 'many' }).click()
  await tree.getByRole('treeitem', { name: '100 more…' }).click()
  await tree.getByRole('treeitem', { name: '0600' }).waitFor()
  await page.getByRole('searchbox', { name: 'Find a file' }).fill('RATE')
  await page
    .getByRole('region', { name: 'Matching files' })
    .getByRole('link', { name: 'lib/deep/rate.ts' })
    .click()
  await page.getByRole('region', { name: 'Content' }).locator('code', { hasText: '22' }).waitFor()
  await page.getByRole('searchbox', { name: 'Find a file' }).fill('nothing is called so')
  await page.getByRole('heading', { name: 'No file matches' }).waitFor()
})

test('on a phone a file takes the whole pane and leads back to the tree', async () => {
  await using someone = await visit({
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
  })
  const { page } = someone
  await someone.open(`/agent/trace/${run.id}?view=files`)
  await page.getByRole('treeitem', { name: 'README.md' }).click()
  await page.getByRole('region', { name: 'Content' }).waitFor()
  expect(await page.getByRole('tree').isVisible()).toBe(false)
  await expectAccessible(someone, 'a file on a phone')
  await page.getByRole('link', { name: 'Back to the files' }).click()
  await page.getByRole('tree').waitFor()
  await expectAccessible(someone, 'the tree on a phone')
})

test('the newest files of an active run are shown as it works, and files that are not kept have a reason', async () => {
  await using someone = await visit({ accept: /409/ })
  const { page } = someone
  const steps = ['run: "echo > one.txt"', 'ask: "Continue?"', 'run: "echo > two.txt"', 'answer: "Done."']
  const { id } = await createRun(app, { prompt: playbook('Ask', ...steps) })
  await awaitRun(app, id, ({ status }) => status === 'waiting')
  await someone.open(`/agent/trace/${id}?view=files`)
  await page.getByRole('treeitem', { name: 'one.txt' }).waitFor()
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'Yes',
  })
  await untilStatus(page, 'completed')
  await page.getByRole('treeitem', { name: 'two.txt' }).waitFor()

  const last = (await allLogs(app, id)).length
  await rows(app, 'delete from checkpoints where run_id = $1', [id])
  await someone.open(`/agent/trace/${id}?view=files#e${last}`)
  await page.getByRole('heading', { name: 'The files are not kept' }).waitFor()
  await page.getByText('They are not kept after any entry.').waitFor()
  await expectAccessible(someone, 'files that are not kept')
})
