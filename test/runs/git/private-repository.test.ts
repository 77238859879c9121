import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Intercept, startGitServer } from '../../git/remotes/git-server.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, gitIn, makeRepository, responses, shell, startCodingApp } from '../coding-app.ts'

const TOKEN = 'forge-token-0123456789'
const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64')

test('D78: a private repository is accessed with its own credentials, and nothing of them is in the sandbox', async () => {
  using folder = temporaryFolder()
  const bare = join(folder.path, 'private.git')
  gitIn(folder.path, 'clone', '--quiet', '--bare', makeRepository(), bare)
  const guard: Intercept = ({ headers }, response) => {
    if (headers.authorization === `Basic ${basic}`) return false
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    return true
  }
  await using server = await startGitServer(folder.path, guard)
  const show_git_credentials = `git config -l --show-origin; cat .git/config; env; printf 'protocol=http\\nhost=%s\\n' "$(git remote get-url origin | cut -d/ -f3)" | git credential fill; tr '\\0' '\\n' </proc/1/environ`
  await using app = await startCodingApp(
    responses(
      calls(
        shell(
          `${show_git_credentials}; grep -rF ${TOKEN.slice(0, 12)} /workspace /mirror /home /tmp /etc 2>/dev/null; echo looked`,
        ),
      ),
      calls(shell('echo x > x.txt')),
      {
        text: 'done',
      },
    ),
    { AGENTRUN_ALLOW_PRIVATE_GIT: '1' },
  )
  const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
  const added = await app.call('POST', at('/repos'), { url: `${server.url}/private.git` })
  expect(added, JSON.stringify(added.body)).toMatchObject({ status: 200 })
  const { id: repo_id } = added.body
  const early = await createRun(app, { prompt: 'too early', repo_id })
  expect(await awaitEnd(app, early.id)).toMatchObject({ status: 'failed', status_reason: 'git_unavailable' })

  const secret = at(`/repos/${repo_id}/secrets/GIT_TOKEN`)
  expect((await app.call('PUT', secret, { value: TOKEN, for_agent: true })).body).toMatchObject({
    status: 400,
    errors: [{ loc: ['body', 'for_agent'] }],
  })
  expect((await app.call('PUT', secret, { value: TOKEN })).status).toBe(200)
  const { id } = await createRun(app, { prompt: 'look around', repo_id })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({ status: 'completed', result: 'done' })
  expect(gitIn(bare, 'show', `${run.branch}:x.txt`)).toBe('x\n')
  const seen = JSON.stringify(logs)
  expect(seen).toContain('looked')
  for (const value of [TOKEN, basic]) expect(seen).not.toContain(value)
  // It was not redacted from the output either: it was not there.
  expect(seen).not.toContain('redacted:GIT_TOKEN')
}, 60_000)
