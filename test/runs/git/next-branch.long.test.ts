import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FakeResponse, FakeScript } from '../../model/fake-server.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, gitIn, makeRepository, shell, startCodingApp } from '../coding-app.ts'

/** Each turn is one command and an answer; `meanwhile` runs before the answer. */
function turns(
  commands: string[],
  meanwhile: (turn: number) => Promise<unknown> = async () => {},
): FakeScript {
  return async (_request, n): Promise<FakeResponse> => {
    const turn = Math.floor(n / 2) + 1
    if (n % 2 === 0) return calls(shell(commands[turn - 1] ?? 'true'))
    await meanwhile(turn)
    return { text: `Turn ${turn} is done.` }
  }
}

/** A repository without a checked-out branch, so that it accepts merges. */
async function start(script: FakeScript): Promise<CodingApp> {
  const repository = makeRepository()
  gitIn(repository, 'checkout', '--quiet', '--detach')
  return startCodingApp(script, {}, repository)
}

const pr = (app: CodingApp, method: string, id: number, path: string, body: unknown) =>
  app.call(method, `/v1/organizations/${app.org_id}/prs/${id}${path}`, body)
const merge = async (app: CodingApp, id: number, method = 'merge') => {
  const response = await pr(app, 'POST', id, '/merge', { method })
  expect(response).toMatchObject({ status: 200, body: { state: 'merged' } })
  return response.body
}
const close = (app: CodingApp, id: number) => pr(app, 'PATCH', id, '', { state: 'closed' })

async function resume(app: CodingApp, id: number, turn: number) {
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: `turn ${turn}`,
  })
  const run = await awaitRun(app, id, found => found.turn === turn && found.terminal)
  expect(run, JSON.stringify(run.error)).toMatchObject({ status: 'completed' })
  return run
}

/** A commit of another author on `main`. */
function commitToMain(app: CodingApp, name: string, text: string): void {
  gitIn(app.repository, 'checkout', '--quiet', 'main')
  writeFileSync(join(app.repository, name), text)
  gitIn(app.repository, 'add', '.')
  gitIn(app.repository, 'commit', '--quiet', '-m', `add ${name}`)
  gitIn(app.repository, 'checkout', '--quiet', '--detach')
}

const files = (app: CodingApp, ref: string) => app.git('ls-tree', '--name-only', ref).trim().split('\n')

test.each(['merge', 'squash'])(
  'merged (%s) and resumed: a new branch on what the base is now, and a new pull request of what is new',
  async method => {
    await using app = await start(turns(['echo 1 > counter', 'cat theirs.txt counter && echo 2 > counter']))
    const first = await awaitEnd(app, (await createRun(app, { prompt: 'one', title: 'Count' })).id)
    const [old] = first.github_pull_requests
    commitToMain(app, 'theirs.txt', 'theirs\n')
    const merged = await merge(app, old.id, method)
    const run = await resume(app, first.id, 2)
    expect(run).toMatchObject({
      branch: `${first.branch}-2`,
      base_sha: merged.merge_sha,
      github_pull_requests: [
        { id: old.id, state: 'merged', head_sha: merged.head_sha, files_changed: 1 },
        {
          number: 2,
          state: 'open',
          head_branch_name: `${first.branch}-2`,
          base_branch_name: 'main',
          files_changed: 1,
          additions: 1,
          deletions: 1,
        },
      ],
    })
    expect(app.git('rev-parse', `${run.branch}^`).trim()).toBe(merged.merge_sha)
    expect(app.git('rev-parse', first.branch).trim()).toBe(merged.head_sha)
    const entries = (await allLogs(app, run.id)).filter(entry => entry.turn === 2)
    expect(entries.map(entry => entry.tool_name ?? entry.message_type)).toEqual([
      ...[
        'USER_MESSAGE',
        'git_checkout',
        'shell',
        'COMMIT_EVALUATION',
        'git_push',
        'INITIAL_PR_GENERATION',
        'PR_EVALUATION',
        'FINAL_ANSWER',
      ],
    ])
    expect(entries[2]?.tool_output).toMatchObject({ exit_code: 0, output: 'theirs\n1\n' })
    await merge(app, run.github_pull_requests[1].id, method)
    expect(app.git('show', 'main:counter')).toBe('2\n')
  },
  60_000,
)

test('closed and resumed: a new branch and a new pull request with the whole change, and the old one is unchanged', async () => {
  await using app = await start(turns(['echo 1 > one.txt', 'echo 2 > two.txt']))
  const first = await awaitEnd(app, (await createRun(app, { prompt: 'one' })).id)
  const [old] = first.github_pull_requests
  await close(app, old.id)
  const run = await resume(app, first.id, 2)
  expect(run).toMatchObject({
    branch: `${first.branch}-2`,
    base_sha: first.base_sha,
    github_pull_requests: [
      { id: old.id, state: 'closed', head_sha: old.head_sha },
      { number: 2, state: 'open', files_changed: 2 },
    ],
  })
  expect(app.git('rev-parse', first.branch).trim()).toBe(old.head_sha)
  expect(files(app, run.branch)).toEqual(expect.arrayContaining(['one.txt', 'two.txt']))
}, 60_000)

test('closed or merged and resumed by a turn that changes nothing: no branch, no pull request, and the existing ones are unchanged', async () => {
  await using app = await start(turns(['echo 1 > one.txt', 'cat one.txt', 'cat one.txt']))
  const first = await awaitEnd(app, (await createRun(app, { prompt: 'one' })).id)
  const [old] = first.github_pull_requests
  await close(app, old.id)
  const refs = app.git('for-each-ref')
  expect(await resume(app, first.id, 2)).toMatchObject({
    branch: first.branch,
    github_pull_requests: [{ state: 'closed' }],
  })
  expect(app.git('for-each-ref')).toBe(refs)
  await pr(app, 'PATCH', old.id, '', { state: 'open' })
  await merge(app, old.id)
  const merged = app.git('for-each-ref')
  expect(await resume(app, first.id, 3)).toMatchObject({
    branch: first.branch,
    github_pull_requests: [{ state: 'merged' }],
  })
  expect(app.git('for-each-ref')).toBe(merged)
}, 60_000)

test("closed with a person's commits on top, and resumed by a turn that changes nothing: no new pull request is opened", async () => {
  await using app = await start(turns(['echo 1 > one.txt', 'cat one.txt']))
  const first = await awaitEnd(app, (await createRun(app, { prompt: 'one' })).id)
  const [old] = first.github_pull_requests
  await close(app, old.id)
  const theirs = app.git('commit-tree', `${old.head_sha}^{tree}`, '-p', old.head_sha, '-m', 'Theirs').trim()
  app.git('update-ref', `refs/heads/${first.branch}`, theirs)
  await pr(app, 'PATCH', old.id, '', { state: 'open' })
  await close(app, old.id)
  expect(await resume(app, first.id, 2)).toMatchObject({
    branch: first.branch,
    github_pull_requests: [{ id: old.id, state: 'closed', head_sha: theirs }],
  })
}, 60_000)

test('merged and resumed when the files of the run are gone: it begins at the current base', async () => {
  await using app = await start(turns(['echo 1 > one.txt', 'cat theirs.txt one.txt && echo 2 > two.txt']))
  const first = await awaitEnd(app, (await createRun(app, { prompt: 'one' })).id)
  commitToMain(app, 'theirs.txt', 'theirs\n')
  await merge(app, first.github_pull_requests[0].id, 'squash')
  const [{ workspace } = { workspace: '' }] = await rows<{ workspace: string }>(
    app,
    'select workspace from runs where id = $1',
    [first.id],
  )
  rmSync(workspace, { recursive: true })
  const run = await resume(app, first.id, 2)
  expect(run.github_pull_requests[1]).toMatchObject({ state: 'open', files_changed: 1 })
  expect(app.git('rev-parse', `${run.branch}^`)).toBe(app.git('rev-parse', 'main'))
}, 60_000)

test.each(['merge', 'close'])(
  '%s while a turn is running: the change of that turn becomes a new pull request',
  async what => {
    const acts: Promise<unknown>[] = []
    let app: CodingApp | undefined
    let pr_id = 0
    const meanwhile = async (turn: number) => {
      if (turn === 2 && app) acts.push(what === 'merge' ? merge(app, pr_id) : close(app, pr_id))
      await Promise.all(acts)
    }
    await using started = await start(turns(['echo 1 > one.txt', 'echo 2 > two.txt'], meanwhile))
    app = started
    const first = await awaitEnd(app, (await createRun(app, { prompt: 'one' })).id)
    const [old] = first.github_pull_requests
    pr_id = old.id
    const run = await resume(app, first.id, 2)
    expect(run.github_pull_requests).toMatchObject([
      { id: old.id, state: what === 'merge' ? 'merged' : 'closed', head_sha: old.head_sha },
      { state: 'open', head_branch_name: `${first.branch}-2`, files_changed: what === 'merge' ? 1 : 2 },
    ])
    expect(app.git('rev-parse', first.branch).trim()).toBe(old.head_sha)
  },
  60_000,
)

test('closed while the turn pushes: the closed one is unchanged, and a new pull request is opened for the work', async () => {
  await using app = await start(turns(['echo 1 > one.txt', 'echo 2 > two.txt']))
  const first = await awaitEnd(app, (await createRun(app, { prompt: 'one' })).id)
  const [old] = first.github_pull_requests
  const [begun, go] = ['begun', 'go'].map(name => join(app.repository, '.git', name)) as [string, string]
  execFileSync('mkfifo', ['-m', '666', begun, go])
  const hook = join(app.repository, '.git/hooks/pre-receive')
  writeFileSync(hook, `#!/bin/sh\nrm ${hook}\necho > ${begun}\ncat ${go}\n`)
  chmodSync(hook, 0o755)
  const resumed = resume(app, first.id, 2)
  await readFile(begun)
  await close(app, old.id)
  await writeFile(go, '')
  const run = await resumed
  expect(run).toMatchObject({
    branch: `${first.branch}-2`,
    github_pull_requests: [
      { id: old.id, state: 'closed', head_sha: old.head_sha, files_changed: 1 },
      { state: 'open', files_changed: 2 },
    ],
  })
}, 60_000)
