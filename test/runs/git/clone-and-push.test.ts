import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type GitClient, gitClient } from '../../api/forges/git-client.ts'
import { type App, startApp } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'

const playbook = (...steps: string[]) =>
  `Do it\n\n\`\`\`playbook\n${steps.map(step => `- ${step}`).join('\n')}\n\`\`\`\n`

test('a person clones the branch of an agent with a token, adds to it, and merges both', async () => {
  await using app = await startApp()
  using person = gitClient(app)
  const run = await awaitEnd(
    app,
    (await createRun(app, { prompt: playbook('run: echo agent > agent.txt', 'answer: Written.') })).id,
  )
  const [pr] = run.github_pull_requests
  await person.ok('.', 'clone', '--quiet', '--branch', pr.head_branch_name, person.address(), 'work')
  expect(await person.ok('work', 'rev-parse', 'HEAD')).toBe(pr.head_sha)
  expect(await person.ok('work', 'show', 'HEAD:agent.txt')).toBe('agent')
  writeFileSync(join(person.folder, 'work', 'person.txt'), 'person\n')
  await person.ok('work', 'add', '--all')
  await person.ok('work', 'commit', '--quiet', '-m', 'add what is missing')
  const pushed = await person.at('work', 'push', 'origin', 'HEAD')
  expect(pushed.err).toContain(`Pull request ${pr.number} is of this commit now`)
  const head_sha = await person.ok('work', 'rev-parse', 'HEAD')
  const path = `/v1/organizations/${app.org_id}/prs/${pr.id}`
  expect((await app.call('GET', path)).body).toMatchObject({ head_sha, files_changed: 2 })
  expect((await app.call('GET', `${path}/commits`)).body).toMatchObject({
    total: 2,
    items: [{}, { sha: head_sha, author_name: 'Ada' }],
  })
  expect((await app.call('POST', `${path}/merge`, { expected_head_sha: head_sha })).body).toMatchObject({
    state: 'merged',
  })
  await person.ok('work', 'fetch', '--quiet', 'origin')
  expect(await person.ok('work', 'ls-tree', '--name-only', 'origin/main')).toMatch(
    /agent\.txt[\s\S]*person\.txt/,
  )
})

/** A run that proposed `agent.txt`, and a person with its branch in `work`. */
async function proposed(app: App, person: GitClient) {
  const run = await awaitEnd(
    app,
    (await createRun(app, { prompt: playbook('run: echo agent > agent.txt', 'answer: Written.') })).id,
  )
  await person.ok('.', 'clone', '--quiet', '--branch', run.branch, person.address(), 'work')
  return run
}

async function pushFile(person: GitClient, name: string, text: string): Promise<string> {
  writeFileSync(join(person.folder, 'work', name), text)
  await person.ok('work', 'add', '--all')
  await person.ok('work', 'commit', '--quiet', '-m', `change ${name}`)
  await person.ok('work', 'push', '--quiet', 'origin', 'HEAD')
  return person.ok('work', 'rev-parse', 'HEAD')
}

async function resume(app: App, id: number, turn: number, ...steps: string[]) {
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: playbook(...steps),
  })
  return awaitRun(app, id, found => found.turn === turn && found.terminal)
}

test('a follow-up continues on top of the commits that a person pushed to the branch', async () => {
  await using app = await startApp()
  using person = gitClient(app)
  const { id, branch } = await proposed(app, person)
  const theirs = await pushFile(person, 'person.txt', 'person\n')
  const run = await resume(app, id, 2, 'run: echo more > more.txt', 'answer: More.')
  expect(run).toMatchObject({
    status: 'completed',
    result: 'More.',
    branch,
    github_pull_requests: [{ state: 'open', files_changed: 3 }],
  })
  await person.ok('work', 'pull', '--quiet', '--ff-only')
  expect(await person.ok('work', 'rev-parse', 'HEAD', 'HEAD^1')).toBe(
    `${run.github_pull_requests[0].head_sha}\n${theirs}`,
  )
  expect(await person.ok('work', 'ls-tree', '--name-only', 'HEAD')).toMatch(
    /agent\.txt[\s\S]*more\.txt[\s\S]*person\.txt/,
  )
  const pushes = (await allLogs(app, id)).filter(entry => entry.tool_name === 'git_push' && entry.turn === 2)
  expect(pushes.map(entry => entry.tool_output)).toMatchObject([
    { status: 'error', found_sha: theirs },
    { status: 'ok' },
  ])
  const next = await resume(app, id, 3, 'run: cat person.txt && echo seen > seen.txt', 'answer: Seen.')
  expect(next).toMatchObject({
    status: 'completed',
    result: 'Seen.',
    github_pull_requests: [{ files_changed: 4 }],
  })
})

test('conflicting commits of a person are not overwritten: the turn reports the conflict, and the work is kept', async () => {
  await using app = await startApp()
  using person = gitClient(app)
  const { id } = await proposed(app, person)
  const theirs = await pushFile(person, 'agent.txt', 'person\n')
  const run = await resume(app, id, 2, 'run: echo otherwise > agent.txt', 'answer: Otherwise.')
  expect(run).toMatchObject({
    status: 'completed',
    result: expect.stringContaining('both have changed "agent.txt"'),
  })
  expect(run.result).toContain(`so pull request ${run.github_pull_requests[0].number} stays at`)
  expect((await allLogs(app, id)).filter(entry => entry.message_type === 'PR_CREATION_FAILED')).toEqual([])
  expect(await person.ok('work', 'ls-remote', 'origin', 'HEAD', run.branch)).toContain(theirs)
})

/** A person replaces the commit of the agent by one of their own, with these files. */
async function forcePush(person: GitClient, files: Record<string, string>): Promise<string> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(person.folder, 'work', name), text)
  await person.ok('work', 'add', '--all')
  await person.ok('work', 'commit', '--quiet', '--amend', '-m', 'rewritten')
  await person.ok('work', 'push', '--quiet', '--force', 'origin', 'HEAD')
  return person.ok('work', 'rev-parse', 'HEAD')
}

test('a force-push of a person is kept, and the next turn is proposed on a new branch', async () => {
  await using app = await startApp()
  using person = gitClient(app)
  const { id, branch } = await proposed(app, person)
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/repos`)
  execFileSync('git', [
    'config',
    '--file',
    join(body.items[0].url, 'config'),
    'receive.denyNonFastForwards',
    'false',
  ])
  const theirs = await forcePush(person, { 'agent.txt': 'person\n' })
  const run = await resume(app, id, 2, 'run: echo otherwise > agent.txt', 'answer: Otherwise.')
  expect(run).toMatchObject({ status: 'completed', result: 'Otherwise.' })
  expect(run.branch).not.toBe(branch)
  expect(
    run.github_pull_requests.map((pr: { head_branch_name: string; state: string }) => [
      pr.head_branch_name,
      pr.state,
    ]),
  ).toEqual([
    [branch, 'open'],
    [run.branch, 'open'],
  ])
  expect(await person.ok('work', 'ls-remote', 'origin', branch)).toContain(theirs)
})
