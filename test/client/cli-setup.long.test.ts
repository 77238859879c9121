import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addEnvironment } from '../api/access/second-organization.ts'
import { putRun } from '../api/runs/put-run.ts'
import { createRun } from '../runs/await-run.ts'
import { type App, rows, startApp } from '../start-app.ts'
import { type CliOptions, runCli } from './run-cli.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const cli = (args: string[], options: CliOptions = {}) =>
  runCli(args, { ...options, env: { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token, ...options.env } })

describe('checks', () => {
  test('shows and sets the checks of a repository', async () => {
    expect((await cli(['checks', 'show', 'sample/invoice'])).out).toBe('no checks\n')
    const { out } = await cli([
      'checks',
      'set',
      'sample/invoice',
      'test=npm test -- a=b',
      'lint=make lint',
      '--timeout',
      '60',
    ])
    expect(out).toBe('test  npm test -- a=b  (at most 60 s)\nlint  make lint  (at most 60 s)\n')
    const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/repos/${app.repo_id}/checks`)
    expect(body.checks).toMatchObject([{ name: 'test', command: 'npm test -- a=b' }, { timeout_seconds: 60 }])
    expect(JSON.parse((await cli(['checks', 'clear', String(app.repo_id), '--json'])).out)).toMatchObject({
      checks: [],
    })
  })

  test('reports what is missing or wrong', async () => {
    for (const [words, text] of [
      [['set', 'sample/invoice'], 'at least one check'],
      [['clear', 'sample/invoice', 'a=b'], 'takes no check'],
      [['set', 'sample/invoice', 'npm test'], 'NAME=COMMAND'],
    ] as const)
      expect(await cli(['checks', ...words])).toMatchObject({ code: 2, err: expect.stringContaining(text) })
    expect(await cli(['checks', 'set', 'sample/invoice', 'a=b', 'a=c'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('checks'),
    })
  })
})

describe('environments', () => {
  test('lists the environments, and drops one or all of them', async () => {
    const { id: run_id } = await createRun(app, { prompt: 'x' })
    const owners = { organization_id: app.org_id, repository_id: app.repo_id, run_id }
    const [one] = [await addEnvironment(app.db, owners, 'one'), await addEnvironment(app.db, owners, 'two')]
    const { out } = await cli(['environments', 'list', 'sample/invoice'])
    expect(out).toMatch(/ID.*SETUP\n/)
    expect(out).toMatch(new RegExp(`\n${one} .* one .*aaaaaaaa`))
    expect((await cli(['environments', 'drop', 'sample/invoice', String(one)])).out).toBe('dropped: 1\n')
    expect(JSON.parse((await cli(['environments', 'drop', 'sample/invoice', '--json'])).out)).toEqual({
      dropped: 1,
    })
    expect(await cli(['environments', 'drop', 'sample/invoice', 'x'])).toMatchObject({ code: 2 })
    expect(await cli(['environments', 'list', 'sample/invoice', '1'])).toMatchObject({ code: 2 })
  })
})

describe('setup', () => {
  const path = () => `/v1/organizations/${app.org_id}/repos/${app.repo_id}/setup-commands`

  test('shows and sets how a repository is set up', async () => {
    expect((await cli(['setup', 'show', 'sample/invoice'])).out).toBe('no setup\n')
    const more = ['--variable', 'A=b=c', '--timeout', '60', '--on-failure', 'continue']
    const { out } = await cli(['setup', 'set', 'sample/invoice', 'npm ci', 'npm run build', ...more])
    expect(out).toBe(
      'command    npm ci\ncommand    npm run build\nvariable   A=b=c\nfailure    continue\ntime-out   60 s\n',
    )
    expect((await app.call('GET', path())).body).toMatchObject({
      commands: ['npm ci', 'npm run build'],
      variables: { A: 'b=c' },
    })
    expect(JSON.parse((await cli(['setup', 'clear', String(app.repo_id), '--json'])).out)).toMatchObject({
      commands: [],
      variables: {},
    })
  })

  test('has it detected, and accepts the result', async () => {
    const started = JSON.parse((await cli(['setup', 'generate', 'sample/invoice', '--json'])).out)
    expect(started).toMatchObject({
      source_type: 'SETUP_COMMANDS',
      repo_id: app.repo_id,
      metadata: { trigger_source: 'cli' },
    })
    const accept = (id: number) => cli(['setup', 'accept', String(id)])
    expect(await accept(started.id)).toMatchObject({
      code: 2,
      err: expect.stringContaining('has found nothing yet: it is'),
    })
    const found = {
      commands: ['npm ci'],
      verified: false,
      saved: false,
      reason: 'proof_failed',
      detail: 'x',
      evidence: [],
    }
    const result = JSON.stringify({
      ...found,
      timings: { commands: [], proofs: [], total_ms: 1 },
      environment_digest: 'a',
    })
    await putRun(app, started.id, 'completed')
    await rows(app, 'update runs set result = $2 where id = $1', [started.id, result])
    expect((await accept(started.id)).out).toContain('command    npm ci\n')
    expect((await app.call('GET', path())).body).toMatchObject({ commands: ['npm ci'], timeout_seconds: 600 })
    await cli(['setup', 'clear', String(app.repo_id)])
  })

  test('reports what is missing or wrong', async () => {
    for (const [words, text] of [
      [['set', 'sample/invoice'], 'at least one command'],
      [['show', 'sample/invoice', 'ls'], 'takes no command'],
      [['set', 'sample/invoice', 'ls', '--variable', 'A'], 'NAME=VALUE'],
      [['set', 'sample/invoice', 'ls', '--timeout', 'long'], '--timeout must be a whole number'],
    ] as const)
      expect(await cli(['setup', ...words])).toMatchObject({ code: 2, err: expect.stringContaining(text) })
    expect(await cli(['setup', 'set', 'sample/invoice', 'ls', '--timeout', '1'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('timeout_seconds'),
    })
  })
})
