import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, rows, startApp } from '../start-app.ts'
import { type ApiResponse, startAltered } from './altered-service.ts'
import { startResponding } from './responding-server.ts'
import { runCli } from './run-cli.ts'

type Finding = { check: string; state: 'ok' | 'warning' | 'broken'; detail: string; fix: string | null }

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  // No run may start here, but a worker that could start one must be registered.
  await rows(app, 'update workers set concurrency = 4')
})
afterAll(() => app[Symbol.asyncDispose]())

async function doctor(env: Record<string, string>, ...args: string[]) {
  const { code, out } = await runCli(['doctor', '--json', ...args], {
    env: { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token, ...env },
  })
  const { broken, checks }: { broken: number; checks: Finding[] } = JSON.parse(out)
  expect(checks.filter(check => (check.fix === null) !== (check.state === 'ok'))).toEqual([])
  expect({ code, broken }).toEqual({
    code: broken === 0 ? 0 : 1,
    broken: checks.filter(check => check.state === 'broken').length,
  })
  return checks
}
const found = (checks: Finding[], state: Finding['state']) =>
  checks.filter(check => check.state === state).map(({ check }) => check)
const named = (checks: Finding[], name: string) => checks.find(({ check }) => check === name)

const altered = (alter: (path: string, result: ApiResponse) => ApiResponse) =>
  startAltered(app.base_url, alter)
const withBody = (result: ApiResponse, change: (body: Record<string, unknown>) => unknown) => ({
  ...result,
  body: JSON.stringify(change(JSON.parse(result.body))),
})

test('a fresh service has no problems; its sample repository and scripts are reported', async () => {
  const { code, out, err } = await runCli(['doctor'], {
    env: { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token },
  })
  expect(code).toBe(0)
  expect(err).toBe('nothing is broken\n')
  expect(out).toMatch(
    /^ok {6}permissions: runs:read, runs:write, logs:read, repos:read, org:read, repos:admin, org:admin$/m,
  )
  expect(out).toMatch(
    /^warning models: no language model: runs play scripts\n {8}→ give the service a key, for example ANTHROPIC_API_KEY/m,
  )
  expect(out).toMatch(/^warning repositories: 1, and runs that name none work on the sample\n {8}→ /m)
  expect(out).toMatch(/^ok {6}events: come through$/m)
})

describe('problems with their fix:', () => {
  test('an address where nothing listens, and one that has no name', async () => {
    const gone = await startResponding({})
    await gone[Symbol.asyncDispose]()
    expect((await doctor({ AGENTRUN_URL: gone.base_url })).at(-1)).toMatchObject({
      check: 'connection',
      state: 'broken',
      detail: expect.stringContaining('nothing listens at 127.0.0.1 port '),
      fix: expect.stringContaining('npm start'),
    })
    expect((await doctor({ AGENTRUN_URL: 'http://no-such-name.invalid' })).at(-1)).toMatchObject({
      check: 'name',
      state: 'broken',
    })
  })

  test('another server at the address, and https without a TLS server', async () => {
    await using other = await startResponding({ body: { hello: 'there' } }, response =>
      response.writeHead(404).end('<html>'),
    )
    for (let i = 0; i < 2; i++)
      expect((await doctor({ AGENTRUN_URL: other.base_url })).at(-1)).toMatchObject({
        check: 'service',
        state: 'broken',
        detail: expect.stringContaining('is not an Agent Run Service'),
      })
    expect((await doctor({ AGENTRUN_URL: app.base_url.replace('http:', 'https:') })).at(-1)).toMatchObject({
      state: 'broken',
    })
  })

  test('a host name that the service does not accept', async () => {
    const checks = await doctor({ AGENTRUN_URL: app.base_url.replace('127.0.0.1', '127.0.0.2') })
    const last = checks.at(-1)
    // Where it listens on one loopback address only, it is not reached at all.
    if (last?.check === 'service') expect(last.fix).toContain('AGENTRUN_ALLOWED_HOSTS')
    else expect(last).toMatchObject({ check: 'connection', state: 'broken' })
  })

  test('a wrong, missing or malformed token', async () => {
    expect((await doctor({ AGENTRUN_TOKEN: 'wrong' })).at(-1)).toMatchObject({
      check: 'token',
      state: 'broken',
      fix: expect.stringContaining('AGENTRUN_TOKEN'),
    })
    expect((await doctor({ AGENTRUN_TOKEN: '' })).at(-1)).toMatchObject({
      check: 'token',
      fix: expect.stringContaining('agentrun login'),
    })
    expect((await doctor({ AGENTRUN_TOKEN: 'zwei Wörter' })).at(-1)).toMatchObject({
      check: 'token',
      state: 'broken',
    })
  })

  test('an organization that is not of the token', async () => {
    expect((await doctor({ AGENTRUN_ORG: '424242' })).at(-1)).toMatchObject({
      check: 'organization',
      state: 'broken',
      fix: expect.stringContaining('--org'),
    })
  })

  test('workers that start nothing, with the reason of the service, and a database that is away', async () => {
    await using blocked = await altered((path, result) =>
      path === '/readyz'
        ? withBody(result, body => ({
            ...body,
            workers: 'blocked',
            workers_reason: 'install bubblewrap',
            version: '9.9.9',
          }))
        : result,
    )
    const checks = await doctor({ AGENTRUN_URL: blocked.base_url })
    expect(named(checks, 'workers')).toMatchObject({ state: 'broken', fix: 'install bubblewrap' })
    expect(named(checks, 'version')).toMatchObject({
      state: 'warning',
      detail: expect.stringContaining('9.9.9'),
    })
    await using without = await altered((path, result) =>
      path === '/readyz'
        ? {
            ...result,
            status: 503,
            body: JSON.stringify({ code: 'unavailable', message: 'The database does not respond.' }),
          }
        : result,
    )
    const database = await doctor({ AGENTRUN_URL: without.base_url })
    expect(named(database, 'database')).toMatchObject({
      state: 'broken',
      detail: 'The database does not respond.',
    })
    expect(found(database, 'ok')).not.toContain('token')
  })

  test('a wrong clock', async () => {
    for (const hours of [-1, 1]) {
      await using skewed = await altered((_path, result) => ({
        ...result,
        headers: { ...result.headers, date: new Date(Date.now() + hours * 3_600_000).toUTCString() },
      }))
      const clock = named(await doctor({ AGENTRUN_URL: skewed.base_url }), 'clock')
      expect(clock).toMatchObject({
        state: 'broken',
        detail: expect.stringContaining(hours > 0 ? 'ahead of' : 'behind'),
        fix: expect.stringContaining('NTP'),
      })
    }
  })

  test('a proxy that holds streams back', async () => {
    await using proxy = await altered((_path, result) => result)
    const checks = await doctor({ AGENTRUN_URL: proxy.base_url })
    expect(found(checks, 'broken')).toEqual(['events'])
    expect(named(checks, 'events')?.fix).toContain('buffering')
  })

  test('an organization without a repository', async () => {
    await using empty = await altered((path, result) =>
      path.includes('/repos') ? withBody(result, body => ({ ...body, items: [], total: 0 })) : result,
    )
    expect(named(await doctor({ AGENTRUN_URL: empty.base_url }), 'repositories')).toMatchObject({
      state: 'broken',
      fix: 'agentrun repos add URL',
    })
  })
})

test('a read-only token is not a problem, and its missing scopes are named', async () => {
  const token = 'a-token-of-somebody-who-reads-only-0123456789'
  await rows(
    app,
    `insert into tokens (user_id, kind, name, digest, wire_profile, scopes, login_at)
      select $1, 'personal', 'reader', sha256($2::bytea), 'standard', '{runs:read,repos:read}', now()`,
    [app.user_id, token],
  )
  const checks = await doctor({ AGENTRUN_TOKEN: token, AGENTRUN_ORG: String(app.org_id) })
  expect(found(checks, 'broken')).toEqual([])
  const permissions = checks.filter(({ check }) => check === 'permissions')
  expect(permissions.map(({ detail }) => detail)).toEqual([
    'runs:read, repos:read',
    expect.stringMatching(/lacks runs:write .*logs:read .*org:read/),
  ])
})

test('the checks change nothing', async () => {
  const counts = `select (select count(*) from runs) as runs, (select count(*) from log_entries) as entries,
      (select count(*) from audit_entries) as audit`
  const before = await rows(app, counts)
  await doctor({})
  expect(await rows(app, counts)).toEqual(before)
})
