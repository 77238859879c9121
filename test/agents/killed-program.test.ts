import { expect, test } from 'vitest'
import { allLogs, awaitEnd, createRun } from '../runs/await-run.ts'
import { responses } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'
import { startProgramApp } from './program-app.ts'

const KILL = 'kill -9 $PPID; sleep 100'

test('a program that is killed does not fail the run: another process continues it with its files', async () => {
  await using app = await startProgramApp(responses({ text: 'unused' }))
  const steps = `tool echo work >work.txt | tool test -e once || { touch once; ${KILL}; } | tool rm once | say Done.`
  const { id } = await createRun(app, { prompt: `do: ${steps}`, agent_type: 'program' })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', turn: 1, result: 'Done.' })
  expect(app.git('show', `${run.branch}:work.txt`)).toBe('work\n')
  const errors = (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR')
  expect(errors).toMatchObject([{ observation: { code: 'agent_killed', retryable: true } }])
})

test('a run whose program is killed each time fails after three recoveries; one that ends by itself fails at once', async () => {
  await using app = await startProgramApp(responses({ text: 'unused' }))
  const { id } = await createRun(app, { prompt: `do: tool ${KILL}`, agent_type: 'program' })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'failed',
    status_reason: 'agent_error',
    error: { code: 'agent_killed' },
  })
  expect(await rows(app, 'select losses from runs where id = $1', [id])).toEqual([{ losses: 3 }])
  const other = await createRun(app, { prompt: 'do: exit 9', agent_type: 'program' })
  expect(await awaitEnd(app, other.id)).toMatchObject({ status: 'failed', error: { code: 'agent_failed' } })
  expect(await rows(app, 'select losses from runs where id = $1', [other.id])).toEqual([{ losses: 0 }])
}, 60_000)
