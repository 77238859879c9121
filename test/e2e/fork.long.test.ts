import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { calls, responses, shell, startCodingApp } from '../runs/coding-app.ts'
import { inBrowser } from './visit.ts'

const { app, visit } = await inBrowser(
  startCodingApp(
    responses(
      calls(shell('echo one > one.txt')),
      calls(shell('echo two > two.txt')),
      { text: 'First.' },
      calls(shell('ls *.txt')),
      {
        text: 'Second.',
      },
    ),
  ),
)

test('an entry is forked from its card: the new run opens, links back, and has the files of that entry', async () => {
  const { id } = await createRun(app, { prompt: 'Make files' })
  await awaitEnd(app, id)
  await using visitor = await visit({ path: `/agent/trace/${id}` })
  const { page } = visitor
  const entry = page.getByRole('article').filter({ hasText: 'echo one' })
  await entry.getByRole('button', { name: /shell/ }).click()
  await entry.getByRole('button', { name: 'Fork from here' }).click()
  await page.getByRole('textbox', { name: 'What should it do?' }).fill('Look around')
  await page.getByRole('dialog').getByRole('button', { name: 'Fork', exact: true }).click()
  await page.getByRole('link', { name: `Open run #${id}` }).waitFor()
  expect(page.url()).not.toMatch(new RegExp(`/agent/trace/${id}$`))
  // For a moment the output is shown in the running step and in its entry.
  await page.getByText('one.txt', { exact: true }).first().waitFor()
  expect(await page.getByText('two.txt').count()).toBe(0)
  await page.getByRole('link', { name: `Open run #${id}` }).click()
  await page.getByRole('region', { name: 'Related runs' }).getByText('fork').waitFor()
  expect(visitor.problems).toEqual([])
})
