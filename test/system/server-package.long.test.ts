import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildClient } from '../../scripts/build-client.ts'
import { buildServer } from '../../scripts/build-server.ts'
import { runCli } from '../client/run-cli.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { program_env } from './program-env.ts'
import { root } from './small-clone.ts'

const folder = temporaryFolder()
const project = join(folder.path, 'project')
const program = (name: string) => join(project, 'node_modules/.bin', name)
const env = { ...program_env, HOME: folder.path, AGENTRUN_PORT: '0', NODE_ENV: 'test' }
const first_token = 'a-token-of-the-configuration-0123456789'
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Both packages as they are published, installed into a folder that has nothing else. */
beforeAll(async () => {
  buildServer(join(folder.path, 'server'))
  await buildClient(join(folder.path, 'client'))
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'somebody', version: '1.0.0' }))
  // The cache of packages of the user who runs the tests.
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--silent', '--no-update-notifier'], { cwd: project })
  for (const name of ['server', 'client']) npm('pack', join(folder.path, name))
  const tarballs = readdirSync(project).filter(name => name.endsWith('.tgz'))
  npm(
    'install',
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    ...tarballs.map(name => `./${name}`),
  )
}, 300_000)
afterAll(() => folder[Symbol.dispose]())

/** Resolves with the address that a started service prints. */
async function addressOf(child: ChildProcess): Promise<string> {
  let output = ''
  child.stderr?.setEncoding('utf8').on('data', text => {
    output += text
  })
  for await (const text of child.stdout?.setEncoding('utf8') ?? []) {
    output += text
    const [, address] = /is ready: +(http:\S+)/.exec(output) ?? []
    if (address !== undefined) return address
  }
  throw new Error(`it did not start: ${output}`)
}

test('the service starts from its package with the data and the configuration of the named folder, works on a run of the installed client, and stops', async () => {
  const named = join(project, 'named')
  mkdirSync(named)
  writeFileSync(join(named, 'agentrun.toml'), 'AGENTRUN_INIT_ORG = "Of the file"\n')
  writeFileSync(join(named, '.env'), `AGENTRUN_INIT_TOKEN=${first_token}\n`, { mode: 0o600 })
  const child = spawn(program('agentrun-server'), ['--data', './named'], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  try {
    const address = await addressOf(child)
    child.stdout.resume()
    expect(readdirSync(named)).toEqual(expect.arrayContaining(['postgres', 'secret.key']))
    const organizations = await fetch(`${address}/v1/organizations`, {
      headers: { authorization: `Bearer ${first_token}` },
    })
    expect(await organizations.json()).toMatchObject({ items: [{ name: 'Of the file' }] })
    const admin = ['--data', './named', 'admin', 'token']
    const token = execFileSync(program('agentrun-server'), admin, {
      cwd: project,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const settings = { AGENTRUN_URL: address, AGENTRUN_TOKEN: token.trim() }
    const run = await runCli(['run', 'Look around', '--wait'], {
      program: [program('agentrun')],
      env: settings,
    })
    expect(run).toMatchObject({ code: 0, out: expect.stringMatching(/^run 1 {2}completed/) })
    const page = await fetch(address)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  } finally {
    child.kill('SIGTERM')
  }
  expect(await ended).toEqual([0, null])
  // Nothing beside the named folder.
  expect(
    readdirSync(project).filter(name => !/\.tgz$|^(node_modules|package(-lock)?\.json)$/.test(name)),
  ).toEqual(['named'])
}, 120_000)

test('without a folder it starts nothing, and its message has an example', async () => {
  for (const args of [[], ['--data'], ['--data', './other', 'sevre']]) {
    const { code, err, out } = await runCli(args, { program: [program('agentrun-server')], env })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('agentrun-server --data ./agentrun-data')
  }
})

test('all packages have the version of package.json, and the server pins what was tested', () => {
  const read = (path: string) => JSON.parse(readFileSync(join(project, 'node_modules', path), 'utf8'))
  expect([read('agentrun/package.json').version, read('agentrun-server/package.json').version]).toEqual([
    version,
    version,
  ])
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const { packages } = read('agentrun-server/npm-shrinkwrap.json')
  const paths = Object.keys(packages).filter(path => path !== '')
  expect(paths.length).toBeGreaterThan(50)
  for (const path of paths) expect(packages[path]).toEqual(locked[path])
  const files = readdirSync(join(project, 'node_modules/agentrun-server'), {
    recursive: true,
    encoding: 'utf8',
  })
  expect(
    files.filter(name => /\.ts$|\.test\.|^src\/client/.test(name) && !name.includes('node_modules')),
  ).toEqual([])
})
