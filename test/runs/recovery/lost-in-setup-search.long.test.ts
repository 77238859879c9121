// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { makeRepository } from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'
import { startCluster } from './cluster.ts'

test('kill -9 in the middle of a verification: the next worker restarts the search, reports that, and ends it once', async () => {
  const repository = makeRepository({ Makefile: 'all:\n\ntest:\n\tsleep 3\n', 'a.c': '' })
  await using cluster = await startCluster(() => ({ text: 'I know nothing.' }), {
    AGENTRUN_INIT_REPO_URL: repository,
  })
  const first = await cluster.start('work')
  const [known] = await cluster.rows<{ id: number }>('select id from repositories')
  const requested = await cluster.call('POST', '/../setup-commands/generate', { repo_id: known?.id })
  expect(requested.status).toBe(200)
  const id: number = requested.body.agent_run_id
  const logs = async () => (await cluster.call('GET', `/run/${id}/logs`)).body.logs as any[]
  await expect
    .poll(async () => (await logs()).some(entry => entry.tool_name === 'setup_command'), { timeout: 30_000 })
    .toBe(true)
  first.child.kill('SIGKILL')
  await first.ended
  await expect.poll(() => sandboxProcesses(first.data_dir), { timeout: 30_000 }).toEqual([])
  await cluster.start('work')
  const run = await cluster.until(id, ({ terminal }) => terminal)
  const entries = await logs()
  expect(run, JSON.stringify(entries.slice(-2))).toMatchObject({
    status: 'completed',
    source_type: 'SETUP_COMMANDS',
  })
  expect(JSON.parse(run.result)).toMatchObject({
    commands: ['make'],
    verified: true,
    saved: true,
    detail: 'Proved by `make test`.',
  })
  const count = (name: string) => entries.filter(entry => entry.tool_name === name).length
  expect([count('setup_proposal'), count('setup_command'), count('setup_proof')]).toEqual([2, 2, 1])
  expect(entries.filter(entry => entry.message_type === 'FINAL_ANSWER')).toHaveLength(1)
  expect(
    await cluster.rows(`select kind from journal where run_id = $1 and kind = 'recovered'`, [id]),
  ).toHaveLength(1)
}, 90_000)
