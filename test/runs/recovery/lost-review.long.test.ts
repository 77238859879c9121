import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { both, on, questionsOf, review, words } from '../agent/reviewer-script.ts'
import { calls, finish, PRICED, shell } from '../coding-app.ts'
import { startCluster } from './cluster.ts'

test('a review that is lost with its worker is repeated and both are counted; a recorded one serves the worker that proposes', async () => {
  const requested = Promise.withResolvers<void>()
  const script = both([calls(shell('echo two >> count.js')), finish('Done.')], n_calls => {
    if (n_calls > 1) return review('pass')
    requested.resolve()
    return { stall: 'before_body' }
  })
  await using cluster = await startCluster(script, on)
  const git = join(cluster.repository, '.git')
  writeFileSync(join(git, 'hold'), '')
  const hook =
    '#!/bin/sh\ncat > arrived.new; mv arrived.new arrived\nwhile [ -e hold ]; do sleep 0.05; done\n'
  writeFileSync(join(git, 'hooks/post-receive'), hook, { mode: 0o755 })
  const lose = async (worker: Awaited<ReturnType<typeof cluster.start>>) => {
    worker.child.kill('SIGKILL')
    await worker.ended
    return cluster.start('work', worker.data_dir)
  }
  const worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'Add two', model: PRICED.model })
  await requested.promise
  const second = await lose(worker)
  // The branch is pushed and the pull request is not created yet.
  await expect.poll(() => existsSync(join(git, 'arrived')), { timeout: 30_000 }).toBe(true)
  rmSync(join(git, 'hold'))
  await lose(second)
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ state: 'open', title: words.title }],
  })
  expect(questionsOf(cluster.model)).toEqual(['commit_verdict', 'commit_verdict'])
  const [usage] = await cluster.rows<{ reserved_usd: string; output_tokens: number }>(
    'select reserved_usd, output_tokens from runs where id = $1',
    [id],
  )
  expect(Number(usage?.reserved_usd)).toBe(0)
  // A lost call counts as an estimate of what the model may have written, which is less than its reservation.
  expect(usage?.output_tokens).toBeGreaterThan(1_000)
  expect(usage?.output_tokens).toBeLessThan(16_000)
}, 90_000)
