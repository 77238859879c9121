import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, startApp } from '../start-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startResponding } from './responding-server.ts'
import { runCli, runOnTerminal } from './run-cli.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

describe('login', () => {
  test('stores a token that works, for its owner alone and for its address alone', async () => {
    using home = temporaryFolder()
    const env = { XDG_CONFIG_HOME: home.path }
    const signed_in = await runCli(['login', '--url', `${app.base_url}/`], { env, input: `${app.token}\n` })
    expect(signed_in).toMatchObject({ code: 0, out: `signed in to ${app.base_url} as Administrator\n` })
    const file = join(home.path, 'agentrun/config.json')
    expect(signed_in.err).toBe(`stored in ${file}\n`)
    expect([statSync(file).mode & 0o777, statSync(join(home.path, 'agentrun')).mode & 0o777]).toEqual([
      0o600, 0o700,
    ])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      default_url: app.base_url,
      services: { [app.base_url]: { token: app.token, organization_id: null } },
    })

    expect((await runCli(['repos'], { env })).out).toContain('sample/invoice')
    await using other = await startResponding({ body: {} })
    expect(await runCli(['repos'], { env: { ...env, AGENTRUN_URL: other.base_url } })).toMatchObject({
      code: 4,
      err: `agentrun: not signed in to ${other.base_url}: run "agentrun login", or set AGENTRUN_TOKEN\n`,
    })
    expect(other.requests).toEqual([])
  })

  test('of several services keeps each, and the last one is the default', async () => {
    using home = temporaryFolder()
    const env = { HOME: home.path }
    await using other = await startResponding({ body: { id: 1, full_name: 'Somebody', email: null } })
    await runCli(['login', '--url', other.base_url, '--org', '7'], { env, input: 'another-token' })
    await runCli(['login', '--url', app.base_url], { env, input: app.token })
    const { default_url, services } = JSON.parse(
      readFileSync(join(home.path, '.config/agentrun/config.json'), 'utf8'),
    )
    expect(default_url).toBe(app.base_url)
    expect(services[other.base_url]).toEqual({ token: 'another-token', organization_id: 7 })
    await runCli(['runs', '--url', other.base_url], { env })
    expect(other.requests.at(-1)).toMatchObject({
      path: '/v1/organizations/7/agent/runs?limit=20',
      headers: { authorization: 'Bearer another-token' },
    })
  })

  test('with a token that is refused, or none, stores nothing', async () => {
    using home = temporaryFolder()
    const env = { XDG_CONFIG_HOME: home.path, AGENTRUN_URL: app.base_url }
    expect(await runCli(['login'], { env, input: 'a-token-that-nobody-gave\n' })).toMatchObject({
      code: 4,
      out: '',
    })
    expect(await runCli(['login'], { env, input: '' })).toMatchObject({ code: 4, out: '' })
    expect(() => statSync(join(home.path, 'agentrun'))).toThrow('ENOENT')
  })

  test('prompts on a terminal, and does not show what is typed', async () => {
    using home = temporaryFolder()
    const terminal = { env: { XDG_CONFIG_HOME: home.path }, prompt: 'creates one):', typed: `${app.token}\r` }
    const { code, out } = await runOnTerminal(['login', '--url', app.base_url], terminal)
    expect(code).toBe(0)
    expect(out).toContain('Token for ')
    expect(out).toContain('as Administrator')
    expect(out.split(app.token)).toHaveLength(1)
  })
})

describe('exit codes', () => {
  const env = () => ({ AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token })

  test.each([
    ['an unknown command', ['runz'], "unknown command 'runz' (Did you mean one of run, runs?)"],
    ['an unknown option', ['runs', '--nothing'], "unknown option '--nothing'"],
    ['a misspelled option', ['runs', '--stauts', 'failed'], 'Did you mean --status?'],
    ['an option without its value', ['runs', '--status'], "option '--status <STATUS>' argument missing"],
    ['a missing word', ['show'], 'agentrun show takes ID'],
    ['a word too many', ['run', 'two', 'words'], 'quote a prompt of several words'],
    [
      'a value that is none of the choices',
      ['runs', '--status', 'done'],
      'It must be one of queued, starting',
    ],
    ['an id that is not a number', ['show', 'x'], 'the id of a run must be a whole number, not "x"'],
    [
      'an address that is none',
      ['runs', '--url', 'localhost:4600'],
      'the address of the service must be like http://127.0.0.1:4600',
    ],
    ['an empty prompt', ['run', ' '], 'the prompt is empty'],
  ])('2 for %s', async (_what, args, words) => {
    const { code, out, err } = await runCli(args, { env: env() })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(words)
    expect(err).toContain('See "agentrun help')
  })

  test('1 for a refusal, 3 for an unreachable service, 4 for a missing or wrong token', async () => {
    expect(await runCli(['show', '424242'], { env: env() })).toEqual({
      code: 1,
      out: '',
      err: 'agentrun: Agent run not found.\n',
    })
    expect(await runCli(['show', '1', '--org', '424242'], { env: env() })).toMatchObject({ code: 1 })
    const gone = await startResponding({})
    await gone[Symbol.asyncDispose]()
    expect(await runCli(['stop', '1', '--org', '1', '--url', gone.base_url], { env: env() })).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^agentrun: http:\S+ cannot be reached: .*ECONNREFUSED/),
    })
    expect(await runCli(['runs'], { env: { AGENTRUN_URL: app.base_url } })).toMatchObject({ code: 4 })
    for (const token of ['wrong', 'arun_p_…'])
      expect(await runCli(['runs', '--token', token], { env: { AGENTRUN_URL: app.base_url } })).toMatchObject(
        { code: 4, out: '' },
      )
  })

  test('0 for the help of every command and action, in at most 80 columns', async () => {
    const names = [...(await runCli(['help'])).out.matchAll(/^ {2}([a-z]+) /gm)].map(match => match[1] ?? '')
    expect(names.length).toBeGreaterThan(30)
    for (const words of [...names.map(name => [name]), ['pr', 'merge'], ['webhooks', 'redeliver']]) {
      const { code, out, err } = await runCli(['help', ...words])
      expect({ words, code, err }).toEqual({ words, code: 0, err: '' })
      expect(out).toContain(`Usage: agentrun ${words.join(' ')}`)
      expect(out.split('\n').filter(line => line.length > 80)).toEqual([])
    }
    const merge = (await runCli(['pr', 'merge', '--help'])).out
    expect([merge.includes('--squash'), merge.includes('--title')]).toEqual([true, false])
    expect(await runCli(['help', 'runz'])).toMatchObject({ code: 2, out: '' })
  })

  test('0 for help and version, of every command', async () => {
    expect((await runCli(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
    const { code, out } = await runCli([])
    expect(code).toBe(0)
    const names = [...out.matchAll(/^ {2}([a-z]+) /gm)].map(match => match[1] ?? '')
    expect(names).toEqual(
      expect.arrayContaining([
        'run',
        'runs',
        'show',
        'logs',
        'resume',
        'stop',
        'repos',
        'login',
        'open',
        'doctor',
        'completion',
      ]),
    )
    expect(await runCli(['run', '--help'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('--max-cost-usd <USD>'),
    })
    expect((await runCli(['help', 'run'])).out).toBe((await runCli(['-h', 'run'])).out)
  })
})

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const script = (await runCli(['completion', 'bash'])).out
    const quoted = words.map(word => `'${word}'`).join(' ')
    const complete = `COMP_WORDS=(agentrun ${quoted}); COMP_CWORD=${words.length}; _agentrun; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { code, out, err } = await runCli(['-c', `${script}\n${complete}`], { program: ['bash'] })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return out.trim().split('\n')
  }

  test('of bash offers commands, options and values where they belong', async () => {
    expect(await complete('ru')).toEqual(['run', 'runs'])
    expect(await complete('runs', '--status', 'c')).toEqual(['cancelling', 'completed', 'cancelled'])
    expect(await complete('--url', 'run', 'sh')).toEqual(['show'])
    expect(await complete('run', '--max-c')).toEqual(['--max-cost-usd'])
    expect(await complete('--json', 'logs', '-')).toEqual(
      expect.arrayContaining(['--follow', '-f', '--type', '--json']),
    )
    expect(await complete('run', '--title', '')).toEqual([''])
    expect(await complete('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']))
  })

  test('of zsh and fish names every command and option', async () => {
    for (const shell of ['zsh', 'fish']) {
      const { out } = await runCli(['completion', shell])
      for (const word of ['resume', 'max-steps', 'FINAL_ANSWER', 'enqueue'])
        expect({ shell, has: out.includes(word) }).toEqual({ shell, has: true })
    }
    expect((await runCli(['completion', 'tcsh'])).code).toBe(2)
  })
})

test('a config file that is broken, or that others can read, is named', async () => {
  using home = temporaryFolder()
  const env = { XDG_CONFIG_HOME: home.path, AGENTRUN_URL: app.base_url }
  mkdirSync(join(home.path, 'agentrun'))
  const file = join(home.path, 'agentrun/config.json')
  writeFileSync(file, '{"services":')
  expect(await runCli(['runs'], { env })).toMatchObject({
    code: 4,
    err: expect.stringContaining(`${file} is not the JSON that login writes`),
  })
  expect(await runCli(['login'], { env, input: app.token })).toMatchObject({
    code: 1,
    err: expect.stringContaining('fix or remove it first'),
  })
  writeFileSync(
    file,
    JSON.stringify({ default_url: null, services: { [app.base_url]: { token: app.token } } }),
  )
  chmodSync(file, 0o644)
  const { code, out } = await runCli(['doctor'], { env })
  expect(code).toBe(1)
  expect(out).toContain(
    `BROKEN  config file: ${file} can be read by others, and contains a token\n        → chmod 600 ${file}\n`,
  )
})
