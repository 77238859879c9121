import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { calls, gitIn, responses, shell } from '../coding-app.ts'
import { type Cluster, startCluster } from './cluster.ts'

// biome-ignore lint/suspicious/noExplicitAny: entries are read without types
const logsOf = async (cluster: Cluster, id: number): Promise<any[]> =>
  (await cluster.call('GET', `/run/${id}/logs`)).body.logs
const keptSeq = async (cluster: Cluster, id: number) =>
  (
    await cluster.rows<{ seq: number }>(
      'select coalesce(max(through_seq), -1) as seq from checkpoints where run_id = $1',
      [id],
    )
  )[0]?.seq ?? -1

test('the machine of a worker is lost with all its files: another one populates the workspace from the checkpoints, and the agent is notified of what may be missing', async () => {
  await using cluster = await startCluster(
    responses(
      calls(
        shell(
          'echo one > kept.txt; git add kept.txt; git commit -qm first; echo two >> kept.txt; echo untracked > new.txt',
        ),
      ),
      calls(shell('echo lost > lost.txt; sleep 1000')),
      calls(shell('cat kept.txt new.txt; ls; git log --format=%s | head -1; git status --porcelain')),
      { text: 'Done.' },
    ),
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'survive', title: 'Survive' })
  await cluster.until(id, run => run.total_logs >= 3 && cluster.model.requests.length === 2)
  const before = await logsOf(cluster, id)
  await expect.poll(() => keptSeq(cluster, id), { timeout: 20_000 }).toBe(before.length)
  first.child.kill('SIGKILL')
  await first.ended
  rmSync(first.data_dir, { recursive: true, force: true })
  await cluster.start('work')
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run).toMatchObject({ status: 'completed', turn: 1, result: 'Done.' })

  const logs = await logsOf(cluster, id)
  expect(logs.slice(0, before.length)).toEqual(before)
  const restored = logs.find(entry => entry.tool_name === 'workspace_restored')
  expect(restored.tool_output).toMatchObject({
    status: 'ok',
    how: 'restored',
    seq: before.length,
    matches: true,
    commit: expect.any(String),
  })
  expect(logs.findLast(entry => entry.tool_name === 'shell').tool_output.output).toBe(
    'one\ntwo\nuntracked\nAGENTS.md\nREADME.md\ncount.js\nkept.txt\nnew.txt\nfirst\n M kept.txt\n?? new.txt\n',
  )
  const { seq, commit, tree } = restored.tool_output
  expect((await cluster.call('GET', `/run/${id}/recovery`)).body).toMatchObject({
    newest_kept_seq: logs.length,
    recoveries: [{ workspace: { how: 'restored', seq, commit, tree, matches: true, up_to_date: true } }],
  })
  expect(JSON.stringify(cluster.model.requests[2]?.body)).toContain('it may or may not have completed')
  expect(JSON.stringify(cluster.model.requests[2]?.body)).toContain('The workspace was recreated')
  expect(gitIn(cluster.repository, 'show', `${run.branch}:new.txt`)).toBe('untracked\n')
  expect(run.github_pull_requests).toHaveLength(1)
}, 120_000)

test('a worker that dies while it populates the workspace leaves no incomplete workspace to the next one', async () => {
  await using cluster = await startCluster(
    responses(
      calls(shell('for i in $(seq 1000); do echo $i > f$i; done')),
      { text: 'First.' },
      calls(shell('ls | wc -l; cat f1000')),
      {
        text: 'Second.',
      },
    ),
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'many files', repo_id: null, repoless: true })
  await cluster.until(id, ({ terminal }) => terminal)
  first.child.kill('SIGKILL')
  await first.ended
  rmSync(first.data_dir, { recursive: true, force: true })
  const second = await cluster.start('work')
  await cluster.call('POST', '/run/resume', { agent_run_id: id, prompt: 'count them' })
  await cluster.until(id, run => run.phase === 'agent' && run.status === 'running')
  second.child.kill('SIGKILL')
  await second.ended
  await cluster.start('work', second.data_dir)
  expect(await cluster.until(id, ({ terminal }) => terminal)).toMatchObject({
    status: 'completed',
    result: 'Second.',
  })
  expect((await logsOf(cluster, id)).findLast(entry => entry.tool_name === 'shell').tool_output.output).toBe(
    '1000\n1000\n',
  )
}, 120_000)

test('files are found by the name of their data folder, regardless of the host name; with another data folder the workspace is populated again', async () => {
  const show_ignored = calls(shell('cat ignored.txt || echo gone; sleep 1000'))
  await using cluster = await startCluster(
    responses(
      calls(shell('echo ignored.txt > .gitignore; echo here > ignored.txt')),
      show_ignored,
      show_ignored,
      calls(shell('cat ignored.txt || echo gone')),
      {
        text: 'Done.',
      },
    ),
  )
  const { id } = await cluster.createRun({ prompt: 'come back' })
  let { data_dir, child, ended } = await cluster.start('work')
  for (const requests of [2, 3]) {
    await cluster.until(id, run => cluster.model.requests.length === requests && run.waiting_on === 'tool')
    const [run] = await cluster.rows<{ workspace_host: string }>(
      'select workspace_host from runs where id = $1',
      [id],
    )
    expect(run?.workspace_host).toBe(readFileSync(join(data_dir, 'id'), 'utf8').trim())
    // A machine that is lost immediately after a step has not stored its files yet.
    const kept = () => cluster.rows('select 1 from checkpoints where run_id = $1 and tree is not null', [id])
    await expect.poll(async () => (await kept()).length, { timeout: 30_000 }).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await ended
    if (requests === 3) rmSync(join(data_dir, 'id'))
    ;({ data_dir, child, ended } = await cluster.start('work', data_dir))
  }
  expect(await cluster.until(id, ({ terminal }) => terminal)).toMatchObject({
    status: 'completed',
    result: 'Done.',
  })
  const logs = await logsOf(cluster, id)
  const how = logs.flatMap(({ tool_name, tool_output }) =>
    tool_name === 'workspace_restored' ? [tool_output.how] : [],
  )
  expect(how).toEqual(['adopted', 'restored'])
  expect(logs.findLast(entry => entry.tool_name === 'shell').tool_output.output).toContain('gone')
}, 120_000)
