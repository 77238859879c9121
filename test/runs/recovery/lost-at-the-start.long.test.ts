import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { calls, shell } from '../coding-app.ts'
import { startCluster } from './cluster.ts'

test("the repository's instructions for agents are shown once, even if the worker that showed them dies immediately", async () => {
  await using cluster = await startCluster(() => ({ text: 'Done.' }))
  // Blocks the first worker after that write.
  await cluster.rows(`create function hold() returns trigger language plpgsql as
    $$ begin if new.tool_name = 'git_clone' then perform pg_sleep(4); end if; return new; end $$`)
  await cluster.rows('create trigger hold before insert on log_entries for each row execute function hold()')
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'x' })
  await cluster.until(id, run => run.total_logs === 2)
  first.child.kill('SIGKILL')
  await first.ended
  await cluster.start('work')
  expect(await cluster.until(id, ({ terminal }) => terminal)).toMatchObject({ status: 'completed' })
  const shown = await cluster.rows('select seq from log_entries where run_id = $1 and tool_name = $2', [
    id,
    'repository_instructions',
  ])
  expect(shown).toEqual([{ seq: 2 }])
}, 120_000)

test('a run reports that its files are copied to another machine for as long as that takes', async () => {
  await using cluster = await startCluster(({ body }) =>
    JSON.stringify(body).includes('"role":"tool"')
      ? { text: 'Done.' }
      : calls(shell('echo begun > begun.txt; sleep 12345')),
  )
  // Pauses the second worker after the files are populated and before that is recorded.
  await cluster.rows(`create function hold() returns trigger language plpgsql as
    $$ begin if new.tool_name = 'workspace_restored' then perform pg_sleep(4); end if; return new; end $$`)
  await cluster.rows('create trigger hold before insert on log_entries for each row execute function hold()')
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'x' })
  await cluster.until(id, run => run.waiting_on === 'tool')
  first.child.kill('SIGKILL')
  await first.ended
  rmSync(first.data_dir, { recursive: true, force: true })
  await cluster.start('work')
  const held = () =>
    cluster.rows(
      `select 1
        from pg_stat_activity
        where wait_event = 'PgSleep' and datname = current_database()`,
    )
  await expect.poll(async () => (await held()).length, { timeout: 30_000 }).toBe(1)
  expect(await cluster.getRun(id)).toMatchObject({
    status: 'starting',
    phase: 'recover',
    waiting_on: 'recovery',
  })
  expect(await cluster.until(id, ({ terminal }) => terminal)).toMatchObject({ status: 'completed' })
}, 120_000)
