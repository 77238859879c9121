import { expect, test } from 'vitest'
import { awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { calls, makeRepository, responses, shell, startCodingApp } from '../runs/coding-app.ts'
import { inBrowser } from './visit.ts'

const workflow = '.github/workflows/ci.yml'
const change = calls(shell(`echo "# faster" >> ${workflow}`))
const { app, visit } = await inBrowser(
  startCodingApp(responses(change, { text: 'Faster.' }), {}, makeRepository({ [workflow]: 'on: push\n' })),
)

test('the page shows a change of CI that needs approval, and one click pushes it', async () => {
  const { id } = await createRun(app, { prompt: 'Make CI faster' })
  await awaitRun(app, id, run => run.waiting_on === 'tool_approval')
  await using visitor = await visit()
  await visitor.open(`/agent/trace/${id}`)
  const question = visitor.page.getByTestId('approval')
  await question.getByText(workflow).waitFor()
  await question.getByRole('button', { name: 'Approve and push' }).click()
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', github_pull_requests: [{ number: 1, state: 'open' }] })
  await question.waitFor({ state: 'detached' })
})
