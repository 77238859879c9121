import { expect, test } from 'vitest'
import { outgoingFetch } from '../../src/egress/fetch.ts'
import { githubForge } from '../../src/forge/github/github.ts'
import { startFakeGitHub } from './fake-github.ts'
import { githubForEachTest, outgoing, pull, repo } from './github-for-each-test.ts'

const { fake, settings, byToken, byApp } = githubForEachTest()

test('limits, failures and lost responses are distinguished, with the time to wait', async () => {
  const forge = byToken()
  const name = 'GET /repos/{owner}/{repo}/pulls/{pull_number}'
  fake().play(
    name,
    { kind: 'primary_limit', seconds: 30 },
    { kind: 'secondary_limit', seconds: 7 },
    ...[502, 401].map(status => ({ kind: 'status', status }) as const),
    { kind: 'hang_up', when: 'before' },
  )
  const failures = []
  for (let i = 0; i < 6; i++) failures.push(await forge.getPullRequest(repo, 1).catch(error => error))
  expect(failures).toMatchObject([
    {
      code: 'rate_limited',
      retryable: true,
      http_status: 403,
      retry_after_seconds: expect.toSatisfy(seconds => seconds > 25 && seconds <= 31),
    },
    { code: 'rate_limited', retryable: true, http_status: 403, retry_after_seconds: 7 },
    { code: 'server_error', retryable: true, http_status: 502 },
    { code: 'auth', retryable: false, http_status: 401 },
    { code: 'unreachable', retryable: true, http_status: null },
    { code: 'not_found', retryable: false, http_status: 404 },
  ])
})

test('a moved repository is followed at the same API, and a redirect to elsewhere is not: no credential goes there', async () => {
  const forge = byToken()
  await forge.createPullRequest(repo, pull)
  await using elsewhere = await startFakeGitHub()
  const name = 'GET /repos/{owner}/{repo}/pulls/{pull_number}'
  fake().play(name, { kind: 'redirect', to: `${fake().url}/api/v3/repos/acme/app/pulls/100` })
  expect((await forge.getPullRequest(repo, 100)).number).toBe(100)
  fake().play(name, { kind: 'redirect', to: `${elsewhere.url}/api/v3/repos/acme/app/pulls/100` })
  await expect(forge.getPullRequest(repo, 100)).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('is not followed'),
  })
  expect(elsewhere.requests).toEqual([])
})

test('an app signs in for the installation of the repository, keeps its token, and gets another when GitHub takes it back', async () => {
  const forge = byApp()
  expect(await forge.identity()).toEqual({ login: 'careful-agent[bot]', app: 'careful-agent' })
  await forge.createPullRequest(repo, pull)
  await forge.getPullRequest(repo, 100)
  const issued = 'POST /app/installations/{installation_id}/access_tokens'
  expect(fake().count(issued)).toBe(1)
  const { username, password, expires_at } = await forge.gitCredentials(repo)
  expect([username, fake().count(issued), (expires_at?.getTime() ?? 0) > Date.now() + 600_000]).toEqual([
    'x-access-token',
    1,
    true,
  ])
  expect(fake().requests.at(-1)?.authorization).toBe(password)
  fake().revokeTokens()
  await forge.getPullRequest(repo, 100)
  expect((await forge.gitCredentials(repo)).password).not.toBe(password)
}, 20_000)

test('git gets no token that is about to expire', async () => {
  await using short = await startFakeGitHub({ token_ms: 5 * 60_000 })
  const { id, private_key } = short.app
  const forge = githubForge({
    ...settings(),
    origin: short.url,
    credentials: { app_id: id, private_key, installation_id: 77 },
  })
  const first = await forge.gitCredentials(repo)
  expect((await forge.gitCredentials(repo)).password).not.toBe(first.password)
  expect(short.mistakes).toEqual([])
})

test('an address that may not be reached is refused, and not tried again', async () => {
  const closed = outgoingFetch({ ...outgoing, allow_private: false }, { ms: 5_000, max_bytes: 1_000 })
  const forge = githubForge({ ...settings(), fetch: closed, credentials: { token: fake().token } })
  await expect(forge.identity()).rejects.toMatchObject({
    code: 'refused',
    retryable: false,
    message: expect.stringContaining('private'),
  })
  expect(fake().requests).toEqual([])
})
