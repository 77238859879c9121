import { expect, test } from 'vitest'
import { SAMPLE_PROMPT } from '../../src/core/repositories/sample.ts'
import { startApp } from '../start-app.ts'
import { allLogs, awaitEnd, createRun } from './await-run.ts'

test('the sample playbook fixes the sample repository and leaves a pull request', async () => {
  await using app = await startApp()
  const { id } = await createRun(app, { prompt: SAMPLE_PROMPT })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.slice(-3))).toMatchObject({ status: 'completed', error: null })
  expect(logs.map(entry => entry.seq)).toEqual(logs.map((_, i) => i + 1))
  expect(run.github_pull_requests).toHaveLength(1)
})
