// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { calls, gitIn, responses, shell } from '../coding-app.ts'
import { startCluster } from '../recovery/cluster.ts'

test('after the machine of a run is lost the next one sets up the restored files before the agent continues; a worker that dies during the setup leaves nothing incomplete', async () => {
  await using cluster = await startCluster(
    responses(
      calls(shell('cat ~/tool; echo mine >mine.txt')),
      calls(shell('sleep 1000')),
      calls(shell('cat ~/tool mine.txt; git status --porcelain')),
    ),
  )
  const [repo] = (await cluster.call('GET', '/../repos')).body.items
  const slow = 'echo begun >~/begun; sleep 3; echo tool >~/tool; echo made >made.txt'
  expect(
    (await cluster.call('PUT', `/../repos/${repo.id}/setup-commands`, { commands: [slow] })).status,
  ).toBe(200)
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'survive' })
  await cluster.until(id, run => run.phase === 'setup')
  first.child.kill('SIGKILL')
  await first.ended

  const second = await cluster.start('work', first.data_dir)
  await cluster.until(id, run => run.waiting_on === 'tool' && cluster.model.requests.length === 2)
  const kept = () => cluster.rows('select 1 from checkpoints where run_id = $1 and seq > 3', [id])
  await expect.poll(async () => (await kept()).length, { timeout: 30_000 }).toBeGreaterThan(0)
  second.child.kill('SIGKILL')
  await second.ended
  rmSync(second.data_dir, { recursive: true, force: true })

  await cluster.start('work')
  const run = await cluster.until(id, ({ terminal }) => terminal)
  const { logs } = (await cluster.call('GET', `/run/${id}/logs`)).body
  expect(run, JSON.stringify(logs.slice(-3))).toMatchObject({ status: 'completed' })
  const shells = logs
    .filter((entry: any) => entry.tool_name === 'shell')
    .map((entry: any) => entry.tool_output.output)
  expect(shells[0]).toBe('tool\n')
  expect(shells.at(-1)).toBe('tool\nmine\n?? mine.txt\n')
  expect(gitIn(cluster.repository, 'diff', '--name-only', 'main', run.branch ?? '')).toBe('mine.txt\n')
  const commands = logs.filter((entry: any) => entry.tool_name === 'setup_command')
  expect(commands.map((entry: any) => entry.tool_output.status)).toEqual(['ok', 'ok'])
}, 120_000)
