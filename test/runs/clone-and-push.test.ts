import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gitClient } from '../api/git-client.ts'
import { startApp } from '../start-app.ts'
import { awaitEnd, createRun } from './await-run.ts'

const playbook = (...steps: string[]) => `Do it\n\n\`\`\`playbook\n${steps.map(step => `- ${step}`).join('\n')}\n\`\`\`\n`

test('a person clones the branch of an agent with a token, adds to it, and merges both', async () => {
  await using app = await startApp()
  using person = gitClient(app)
  const run = await awaitEnd(app, (await createRun(app, { prompt: playbook('run: echo agent > agent.txt', 'answer: Written.') })).id)
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
  expect((await app.call('GET', `${path}/commits`)).body).toMatchObject({ total: 2, items: [{}, { sha: head_sha, author_name: 'Ada' }] })
  expect((await app.call('POST', `${path}/merge`, { expected_head_sha: head_sha })).body).toMatchObject({ state: 'merged' })
  await person.ok('work', 'fetch', '--quiet', 'origin')
  expect(await person.ok('work', 'ls-tree', '--name-only', 'origin/main')).toMatch(/agent\.txt[\s\S]*person\.txt/)
})
