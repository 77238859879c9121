import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGitServer } from '../../git/remotes/git-server.ts'
import type { FakeScript } from '../../model/fake-server.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { calls, gitIn, makeRepository, responses, shell } from '../coding-app.ts'
import { type Cluster, type ClusterNode, startCluster } from './cluster.ts'

/**
 * The remote accepts a push, reports its position in `.git/arrived`, and blocks the client for as long as
 * there is a `.git/hold`.
 */
function holdPushes({ repository }: Cluster): void {
  const hook = 'cat > arrived.new; mv arrived.new arrived\nwhile [ -e hold ]; do sleep 0.05; done\n'
  writeFileSync(join(repository, '.git/hooks/post-receive'), `#!/bin/sh\n${hook}`, { mode: 0o755 })
  writeFileSync(join(repository, '.git/hold'), '')
}

/** The worker is lost with its machine after the remote has the branch and before this is recorded. */
async function loseInThePush(cluster: Cluster, worker: ClusterNode, id: number): Promise<string> {
  const arrived = join(cluster.repository, '.git/arrived')
  await expect.poll(() => existsSync(arrived), { timeout: 30_000 }).toBe(true)
  worker.child.kill('SIGKILL')
  await worker.ended
  rmSync(worker.data_dir, { recursive: true, force: true })
  rmSync(join(cluster.repository, '.git/hold'))
  const pushed = branchesOf(cluster, id)
  expect(pushed).toHaveLength(1)
  return pushed[0]?.sha ?? ''
}

const branchesOf = ({ repository }: Cluster, id: number) =>
  gitIn(repository, 'for-each-ref', '--format=%(refname:short) %(objectname)', `refs/heads/agent/run-${id}-*`)
    .split('\n')
    .filter(Boolean)
    .map(line => ({ branch: line.split(' ')[0], sha: line.split(' ')[1] }))

/** One branch on the remote, and one pull request of its head. Returns the head. */
async function onlyHead(cluster: Cluster, id: number): Promise<string> {
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run, JSON.stringify(run.error)).toMatchObject({ status: 'completed' })
  const branches = branchesOf(cluster, id)
  expect(run.github_pull_requests).toMatchObject([
    { head_branch_name: run.branch, head_sha: branches[0]?.sha },
  ])
  expect(branches).toEqual([{ branch: run.branch, sha: expect.any(String) }])
  const kept = `select r.head_sha, r.pushed_sha, c.head_sha as changes_of
      from runs r
      join changes c on c.run_id = r.id
      where r.id = $1`
  const sha = branches[0]?.sha
  expect(await cluster.rows(kept, [id])).toEqual([{ head_sha: sha, pushed_sha: sha, changes_of: sha }])
  return branches[0]?.sha ?? ''
}

// biome-ignore lint/suspicious/noExplicitAny: entries are read without types
async function pushesOf(cluster: Cluster, id: number): Promise<any[]> {
  return (await cluster.call('GET', `/run/${id}/logs?tool_name=git_push&message_type=ACTION&reverse=true`))
    .body.logs
}

const one = {
  AGENTRUN_BASE_URL: 'https://one.example.org',
  AGENTRUN_COMMIT_AUTHOR_NAME: 'One',
  AGENTRUN_COMMIT_TRAILER: 'One',
}
const other = {
  AGENTRUN_BASE_URL: 'https://other.example.org',
  AGENTRUN_COMMIT_AUTHOR_NAME: 'Other',
  AGENTRUN_COMMIT_TRAILER: 'Other',
}

/** A run whose worker is lost in the push of its last turn, the `turns`th; before that turn all goes well. */
async function runAndLose(cluster: Cluster, turns: number): Promise<{ id: number; pushed: string }> {
  const worker = await cluster.start('work', undefined, one)
  if (turns === 1) holdPushes(cluster)
  const { id } = await cluster.createRun({ prompt: 'write', title: 'Write it' })
  if (turns === 2) {
    await cluster.until(id, ({ terminal }) => terminal)
    holdPushes(cluster)
    await cluster.call('POST', '/run/resume', { agent_run_id: id, prompt: 'more' })
  }
  return { id, pushed: await loseInThePush(cluster, worker, id) }
}

const before = (turns: number) =>
  turns === 1 ? [] : [calls(shell('echo first > first.txt')), { text: 'First.' }]

test.each([1, 2])(
  'turn %i: a worker that pushed and died before it recorded the push is followed by one with another address, name and title: it creates the same commit',
  async turns => {
    await using cluster = await startCluster(
      responses(...before(turns), calls(shell('echo late > late.txt')), { text: 'Written.' }),
    )
    const { id, pushed } = await runAndLose(cluster, turns)
    expect((await cluster.call('PATCH', `/run/${id}`, { title: 'Another title' })).status).toBe(200)
    await cluster.start('work', undefined, other)
    expect(await onlyHead(cluster, id)).toBe(pushed)
    expect((await pushesOf(cluster, id))[0].tool_output).toEqual({ status: 'ok', result: 'up_to_date' })
    expect(
      gitIn(cluster.repository, 'log', '-1', '--format=%an %s %(trailers:key=One,valueonly)', pushed),
    ).toContain('One Write it https://one')
  },
  90_000,
)

test('a push that outlives its worker and arrives first is not a conflict for the next one', async () => {
  await using cluster = await startCluster(
    responses(calls(shell('echo late > late.txt')), { text: 'Written.' }),
  )
  // Each push is blocked before the remote accepts it, until it is released. The first one is accepted
  // without its client, as by a server that has received it: on this machine the remote would end with the
  // worker's programs.
  const git = join(cluster.repository, '.git')
  const released = 'while [ ! -e "go-$n" ]; do sleep 0.05; done'
  const accept = `env -u GIT_QUARANTINE_PATH -u GIT_OBJECT_DIRECTORY -u GIT_ALTERNATE_OBJECT_DIRECTORIES git update-ref "$ref" "$new"`
  const hook = [
    'read -r old new ref; export n=1 new ref; while ! mkdir "push-$n" 2>/dev/null; do n=$((n + 1)); done',
    `if [ $n = 1 ]; then cp -r "$GIT_QUARANTINE_PATH"/. objects/; setsid sh -c '${released}; ${accept}' </dev/null >/dev/null 2>&1 & fi`,
    `${released}\n`,
  ].join('\n')
  writeFileSync(join(git, 'hooks/pre-receive'), `#!/bin/sh\n${hook}`, { mode: 0o755 })
  const begun = (n: number) =>
    expect.poll(() => existsSync(join(git, `push-${n}`)), { timeout: 30_000 }).toBe(true)
  const worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'write' })
  await begun(1)
  worker.child.kill('SIGKILL')
  await cluster.start('work')
  await begun(2)
  writeFileSync(join(git, 'go-1'), '')
  await expect.poll(() => branchesOf(cluster, id).length, { timeout: 20_000 }).toBe(1)
  for (const n of [2, 3]) writeFileSync(join(git, `go-${n}`), '')
  await onlyHead(cluster, id)
  const [last, before] = await pushesOf(cluster, id)
  expect([before.tool_output.status, last.tool_output]).toEqual([
    'error',
    { status: 'ok', result: 'up_to_date' },
  ])
}, 90_000)

/**
 * The files of the last step are lost as well, so that the agent repeats it: `again` is what it then does.
 */
async function doneAgain(turns: number, again: string) {
  const script: FakeScript = responses(
    ...[
      ...before(turns),
      calls(shell('echo kept > kept.txt')),
      calls(shell('echo late > late.txt')),
      { text: 'Written.' },
    ],
    ...[
      calls(shell(again)),
      { text: 'Written again.' },
      calls(shell('echo after > after.txt')),
      { text: 'After.' },
    ],
  )
  await using stack = new AsyncDisposableStack()
  const cluster = stack.use(await startCluster(script))
  const { id, pushed } = await runAndLose(cluster, turns)
  const last = `(select max(seq) from log_entries where run_id = $1 and tool_name = 'shell')`
  await cluster.rows(`delete from checkpoints where run_id = $1 and seq >= ${last}`, [id])
  await cluster.start('work', undefined, other)
  const head = await onlyHead(cluster, id)
  expect(await cluster.getRun(id)).toMatchObject({
    status_reason: 'work_lost',
    result: expect.stringMatching(/^Written again\.\n\nChanges of some actions were lost/),
  })
  const running = stack.move()
  return { cluster, id, pushed, head, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** A later turn that builds on the pushed head, and is pushed immediately. */
async function nextTurn(cluster: Cluster, id: number, turn: number, head: string): Promise<void> {
  await cluster.call('POST', '/run/resume', { agent_run_id: id, prompt: 'and more' })
  await cluster.until(id, run => run.turn === turn && run.terminal)
  const next = await onlyHead(cluster, id)
  expect(gitIn(cluster.repository, 'rev-parse', `${next}^`).trim()).toBe(head)
  const [last, before] = await pushesOf(cluster, id)
  expect(last).toMatchObject({ turn, tool_output: { status: 'ok' } })
  expect(before.turn).toBeLessThan(turn)
}

test.each([1, 2])(
  'turn %i: where the agent has to do its last step again, and does it otherwise, its work is put on top of what was pushed',
  async turns => {
    await using lost = await doneAgain(turns, 'echo better > late.txt')
    const { cluster, id, pushed, head } = lost
    expect(gitIn(cluster.repository, 'rev-parse', `${head}^`).trim()).toBe(pushed)
    expect(gitIn(cluster.repository, 'show', `${head}:late.txt`)).toBe('better\n')
    expect(gitIn(cluster.repository, 'log', '-1', '--format=%an %b', head)).toMatch(/^Other Written again/)
    await nextTurn(cluster, id, turns + 1, head)
  },
  90_000,
)

test('if the agent repeats the same change, the pushed branch is left as it is', async () => {
  await using lost = await doneAgain(1, 'echo late > late.txt')
  const { cluster, id, pushed, head } = lost
  expect(head).toBe(pushed)
  await nextTurn(cluster, id, 2, head)
}, 90_000)

test('an unavailable remote is awaited up to one timeout per turn, not again by every worker that takes over the run', async () => {
  using folder = temporaryFolder()
  gitIn(folder.path, 'clone', '--quiet', '--bare', makeRepository(), 'app.git')
  let away = false
  await using server = await startGitServer(folder.path, request => {
    if (away) request.socket.destroy()
    return away
  })
  const remote = { AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_INIT_REPO_URL: `${server.url}/app.git` }
  await using cluster = await startCluster(
    responses(calls(shell('echo x > x.txt; sleep 1')), { text: 'Written.' }),
    remote,
  )
  const worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'write' })
  await cluster.until(id, run => run.waiting_on === 'tool')
  away = true
  const waits = () =>
    cluster.rows(`select 1 from log_entries where run_id = $1 and message_type = 'ERROR'`, [id])
  await expect.poll(async () => (await waits()).length, { timeout: 20_000 }).toBeGreaterThan(0)
  worker.child.kill('SIGKILL')
  await worker.ended
  await cluster.rows(
    `update journal
      set created_at = created_at - interval '59 minutes 59 seconds'
      where kind = 'push_started'`,
  )
  await cluster.start('work', worker.data_dir)
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({
    status: 'failed',
    error: { code: 'push_unreachable' },
  })
}, 90_000)
