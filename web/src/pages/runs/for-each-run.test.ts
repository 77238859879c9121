import { expect, test } from 'vitest'
import { AgentRunError } from '../../../../src/client/sdk/error.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { forEachRun } from './for-each-run.ts'

const runs = [1, 2, 3].map(id => ({ id }) as AgentRun)

test('a rate limit delays the runs, and a failure of one does not prevent the others', async () => {
  const calls: number[] = []
  const progress: number[] = []
  const failures = await forEachRun(
    runs,
    async ({ id }) => {
      calls.push(id)
      if (id === 1 && calls.length === 1)
        throw new AgentRunError({ status: 429, code: 'rate_limited', detail: '', retry_after_ms: 0 })
      if (id === 2) throw new Error('It has ended.')
    },
    done => progress.push(done),
  )
  expect(calls).toEqual([1, 1, 2, 3])
  expect(failures.map(({ run, message }) => [run.id, message])).toEqual([[2, 'It has ended.']])
  expect(progress).toEqual([1, 2, 3])
})
