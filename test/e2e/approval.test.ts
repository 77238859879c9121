import { expect, test } from 'vitest'
import { startProgramApp } from '../agents/program-app.ts'
import { awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { calls, makeRepository, responses, shell, startCodingApp } from '../runs/coding-app.ts'
import { inBrowser } from './visit.ts'

const workflow = '.github/workflows/ci.yml'
const change = calls(shell(`echo "# faster" >> ${workflow}`))
const pushing = await inBrowser(
  startCodingApp(responses(change, { text: 'Faster.' }), {}, makeRepository({ [workflow]: 'on: push\n' })),
)
const asking = await inBrowser(startProgramApp(() => ({ text: 'Hello.' }), {}, { permissions: 'ask' }))

test('the page shows a change of CI that needs approval, and one click pushes it', async () => {
  const { app, visit } = pushing
  const { id } = await createRun(app, { prompt: 'Make CI faster' })
  await awaitRun(app, id, run => run.waiting_on === 'tool_approval')
  await using visitor = await visit({ path: `/agent/trace/${id}` })
  const question = visitor.page.getByTestId('approval')
  await question.getByText(workflow).waitFor()
  await visitor.page.getByText('Review and approve at the end of the log.').waitFor()
  await question.getByRole('button', { name: 'Approve and push' }).click()
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ number: 1, state: 'open' }],
  })
  await question.waitFor({ state: 'detached' })
})

test('the page shows a call of an agent that needs approval, and one click lets the agent continue', async () => {
  const { app, visit } = asking
  const { id } = await createRun(app, { prompt: 'do: permission touch a | say Done.', agent_type: 'program' })
  await awaitRun(app, id, run => run.waiting_on === 'tool_approval')
  await using visitor = await visit({ path: `/agent/trace/${id}` })
  const question = visitor.page.getByTestId('approval')
  await question.getByText('execute: touch a').waitFor()
  await question.getByRole('button', { name: 'Approve', exact: true }).click()
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  await question.waitFor({ state: 'detached' })
})
