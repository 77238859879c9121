import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitClient, gitClient } from '../../api/forges/git-client.ts'
import type { FakeResponse } from '../../model/fake-server.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../coding-app.ts'

const WORKFLOW = '.github/workflows/ci.yml'
let app: CodingApp
let client: GitClient
let script: FakeResponse[] = []
beforeAll(async () => {
  app = await startCodingApp(() => script.shift() ?? { text: 'Done.' })
  client = gitClient(app)
  await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/API_KEY`, {
    value: 'api-key-0123456789',
    for_agent: true,
  })
})
afterAll(async () => {
  client[Symbol.dispose]()
  await app[Symbol.asyncDispose]()
})

async function start(...responses: FakeResponse[]): Promise<number> {
  script = responses
  return (await createRun(app, { prompt: 'work' })).id
}
const resume = (id: number, body: object) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: id, ...body })
const headOf = async (id: number): Promise<string> =>
  (await allLogs(app, id)).findLast(entry => entry.message_type === 'COMMIT_EVALUATION').observation.head_sha

/**
 * How often another run of the repository finds `text` in the objects that git or the file system lets it
 * read, and the output of git for `head`.
 */
async function seenByOthers(text: string, head: string): Promise<string> {
  const poll = [
    'export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="*"',
    `objects() { git --git-dir="$1" cat-file --batch-all-objects --unordered --batch; git --git-dir="$1" log --all -p; }`,
    `folders=$(find / -xdev \\( -name proc -o -name sys \\) -prune -o -type d -name objects -print 2>/dev/null; ls -d /mirror/incoming* 2>/dev/null)`,
    `{ objects /mirror; objects .git; for folder in $folders; do GIT_OBJECT_DIRECTORY=$folder git cat-file --batch-all-objects --batch; done; } >/tmp/all 2>/dev/null`,
    `git --git-dir=/mirror fsck --unreachable --dangling --no-reflogs >>/tmp/all 2>&1`,
    `echo "found:$(grep -ac ${text} /tmp/all) known:$(git cat-file -t ${head} 2>/dev/null)"`,
  ]
  const id = await start(calls(shell(poll.join('\n'))), { text: 'Looked.' })
  await awaitEnd(app, id)
  return (await allLogs(app, id)).find(entry => entry.tool_name === 'shell').tool_output.output.trim()
}

test('a refused object is not readable by a later run of the repository, nor by git over HTTP, and its own run continues from it', async () => {
  const id = await start(
    calls(
      shell(
        'echo "refused-marker $API_KEY" >config; echo "other-marker" >other; git add .; git commit -qm wip',
      ),
    ),
  )
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'failed', status_reason: 'policy_denied' })
  const head = await headOf(id)
  expect(await seenByOthers('refused-marker', head)).toBe('found:0 known:')
  await client.ok('.', 'init', '--quiet', 'curious')
  for (const version of ['0', '2']) {
    const { code } = await client.at(
      'curious',
      '-c',
      `protocol.version=${version}`,
      'fetch',
      client.address(),
      head,
    )
    expect(code).toBe(128)
  }

  script = [calls(shell('git reset -q --soft HEAD~1; echo clean >config'))]
  expect((await resume(id, { prompt: 'Take the key out.' })).status).toBe(200)
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', github_pull_requests: [expect.anything()] })
  expect(app.git('show', `${run.branch}:config`)).toBe('clean\n')
  // Other runs may read pushed objects; the refused one is not among them.
  expect(await seenByOthers('other-marker', await headOf(id))).toMatch(/found:[1-9]\d* known:commit/)
  expect(await seenByOthers('refused-marker', head)).toBe('found:0 known:')
})

test('a commit that waits for approval is not readable by other runs until it is approved and pushed', async () => {
  const id = await start(
    calls(shell(`mkdir -p .github/workflows; echo "on: push # waiting-marker" >${WORKFLOW}`)),
    { text: 'Faster.' },
  )
  await awaitRun(app, id, run => run.waiting_on === 'tool_approval' || run.terminal)
  const head = await headOf(id)
  expect(await seenByOthers('waiting-marker', head)).toBe('found:0 known:')
  expect((await resume(id, { prompt: 'Fine.', approve: true })).status).toBe(200)
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    github_pull_requests: [expect.anything()],
  })
  expect(await seenByOthers('waiting-marker', head)).toMatch(/found:[1-9]\d* known:commit/)
})

test('a commit that the remote refuses is not readable by other runs', async () => {
  const hook = join(app.repository, '.git/hooks/pre-receive')
  writeFileSync(hook, '#!/bin/sh\necho no >&2\nexit 1\n', { mode: 0o755 })
  const id = await start(calls(shell('echo declined-marker >declined')))
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', github_pull_requests: [] })
  const head = await headOf(id)
  expect(await seenByOthers('declined-marker', head)).toBe('found:0 known:')
  rmSync(hook)
  expect((await resume(id, { prompt: 'Again.' })).status).toBe(200)
  expect(await awaitEnd(app, id)).toMatchObject({ github_pull_requests: [expect.anything()] })
})
