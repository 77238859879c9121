import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../await-run.ts'
import { calls, shell, startCodingApp } from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'

test('twenty runs at once each end with their own answer, branch and pull request', async () => {
  await using app = await startCodingApp(
    request => {
      const text = JSON.stringify(request.body)
      const own = /number (\d+)!/.exec(text)?.[1] ?? '?'
      return text.includes('"role":"tool"')
        ? { text: `done ${own}` }
        : calls(shell(`echo ${own} > n${own}.txt`))
    },
    { AGENTRUN_WORKER_CONCURRENCY: '8' },
  )
  const created = await Promise.all(
    Array.from({ length: 20 }, (_, i) => createRun(app, { prompt: `number ${i}!` })),
  )
  const runs = await Promise.all(created.map(run => awaitEnd(app, run.id)))
  expect(runs.map(run => run.result)).toEqual(runs.map((_, i) => `done ${i}`))
  expect(new Set(runs.map(run => run.github_pull_requests[0]?.number)).size).toBe(20)
  for (const [i, run] of runs.entries())
    expect(app.git('diff', '--name-only', 'main', run.branch)).toBe(`n${i}.txt\n`)
  expect(sandboxProcesses(app.data_dir)).toEqual([])
}, 90_000)
