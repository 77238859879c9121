import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { isAlive, waitUntil } from '../../src/system/processes.ts'
import { centre, web_rooms } from '../rooms.ts'
import { boot, launch, root, smallClone, stampPackages } from './small-clone.ts'

type Package = { version?: string; optional?: boolean; optionalDependencies?: Record<string, string> }

async function launchToEnd(
  clone: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const child = launch(clone, args, env)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

test('every script of package.json goes through the launcher or the supervisor, with exec so that signals to npm arrive', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const named = Object.keys(boot.commands).filter(name => !boot.commands[name]?.direct)
  const launched = Object.fromEntries(named.map(name => [name, `exec node boot.cjs ${name}`]))
  expect(scripts).toEqual({ start: 'exec bash supervisor.sh', ...launched })
})

test('the lock file holds every optional package that it names, else npm ci refuses a fresh clone', () => {
  for (const folder of [root, join(root, 'runtime')]) {
    const { packages }: { packages: Record<string, Package> } = JSON.parse(
      readFileSync(join(folder, 'package-lock.json'), 'utf8'),
    )
    const held = new Set(Object.keys(packages).map(path => path.split('node_modules/').at(-1)))
    const named = Object.values(packages).flatMap(entry => Object.keys(entry.optionalDependencies ?? {}))
    expect(named.filter(name => !held.has(name))).toEqual([])
  }
})

test('packages are reinstalled when dependencies change, and not for a new description', () => {
  using clone = smallClone('')
  const before = boot.packagesStamp(clone.path)
  const manifest = JSON.parse(readFileSync(join(clone.path, 'package.json'), 'utf8'))
  writeFileSync(
    join(clone.path, 'package.json'),
    JSON.stringify({ ...manifest, description: 'other', scripts: { x: 'y' } }),
  )
  expect(boot.packagesStamp(clone.path)).toBe(before)
  writeFileSync(
    join(clone.path, 'package.json'),
    JSON.stringify({ ...manifest, dependencies: { left: '1.0.0' } }),
  )
  const other_dependency = boot.packagesStamp(clone.path)
  appendFileSync(join(clone.path, 'package-lock.json'), ' ')
  expect(new Set([before, other_dependency, boot.packagesStamp(clone.path)]).size).toBe(3)
})

/** The folders of the service that the page may import, and those that every folder may. */
const imported_by_web = new Set(
  [...centre, ...Object.values(web_rooms).flat()]
    .filter(path => path.startsWith('src/'))
    .map(path => (path.endsWith('.ts') ? dirname(path) : path)),
)

test('the web page is rebuilt when its sources or packages change, and not for the output of the build itself', () => {
  using clone = smallClone('')
  writeFileSync(join(clone.path, 'web/src/main.tsx'), 'one')
  const stamps = [boot.webStamp(clone.path)]
  writeFileSync(join(clone.path, 'web/dist/main.js'), 'built')
  expect(boot.webStamp(clone.path)).toBe(stamps[0])
  writeFileSync(join(clone.path, 'web/src/main.tsx'), 'two')
  stamps.push(boot.webStamp(clone.path))
  writeFileSync(join(clone.path, 'web/src/more.tsx'), '')
  stamps.push(boot.webStamp(clone.path))
  appendFileSync(join(clone.path, 'package-lock.json'), ' ')
  stamps.push(boot.webStamp(clone.path))
  for (const part of imported_by_web) {
    mkdirSync(join(clone.path, part), { recursive: true })
    writeFileSync(join(clone.path, part, 'imported.ts'), '')
    stamps.push(boot.webStamp(clone.path))
  }
  expect(imported_by_web.size).toBeGreaterThan(2)
  expect(new Set(stamps).size).toBe(4 + imported_by_web.size)
})

test('the npm inside npm keeps the ways to the registry and loses what would change the installation', () => {
  const kept = {
    PATH: '/bin',
    npm_config_registry: 'r',
    npm_config_cache: 'c',
    npm_config_https_proxy: 'p',
    npm_config_cafile: 'f',
    npm_execpath: 'n',
  }
  const lost = {
    NODE_ENV: 'production',
    npm_config_omit: 'dev',
    npm_config_prefix: '/x',
    npm_config_cached: 'y',
    npm_package_name: 'x',
    npm_lifecycle_event: 'test',
  }
  expect(boot.innerEnvironment({ ...kept, ...lost })).toEqual(kept)
})

test('a command gets its arguments and a PATH that starts with our Node, and its exit code is passed on', async () => {
  using clone = smallClone(
    "console.log(JSON.stringify([process.argv.slice(2), process.env.PATH.split(':')[0], process.cwd()])); process.exitCode = 7",
  )
  stampPackages(clone.path)
  const { code, out, err } = await launchToEnd(clone.path, ['check', 'one', '--two'])
  expect([code, err]).toEqual([7, ''])
  expect(JSON.parse(out)).toEqual([['one', '--two'], dirname(process.execPath), clone.path])
})

test('two commands in parallel on a clone without packages install them once, regardless of NODE_ENV and omit', async () => {
  using clone = smallClone(
    "import { existsSync } from 'node:fs'; console.log(existsSync('node_modules/dep/package.json'))",
  )
  const env = { NODE_ENV: 'production', npm_config_omit: 'dev' }
  const ends = await Promise.all([
    launchToEnd(clone.path, ['check'], env),
    launchToEnd(clone.path, ['check'], env),
  ])
  expect(ends.map(end => [end.code, end.out])).toEqual(Array(2).fill([0, 'true\n']))
  expect(ends.filter(end => end.err.includes('getting packages'))).toHaveLength(1)
  expect((await launchToEnd(clone.path, ['check'])).err).toBe('')
})

/**
 * A fake npm whose installation does not end; it reports that, and ends with the launcher that started it.
 */
const ENDLESS_NPM = `console.error('npm is running')
const launcher = process.ppid
setInterval(() => process.ppid === launcher || process.exit(0), 50)`

test('a command waits for one that sets up the same clone, and continues immediately when that one is killed', async () => {
  using clone = smallClone('')
  const npm_execpath = join(clone.path, 'npm-cli.js')
  writeFileSync(npm_execpath, ENDLESS_NPM)
  const killed = launch(clone.path, ['check'], { npm_execpath })
  for await (const piece of killed.stderr) if (String(piece).includes('npm is running')) break
  const waiting = launch(clone.path, ['check'])
  let err = ''
  waiting.stderr.on('data', piece => {
    err += piece
    if (err === 'agentrun: waiting for another command that is setting up this clone\n')
      killed.kill('SIGKILL')
  })
  expect(await once(waiting, 'close')).toEqual([0, null])
  expect(err).toContain('getting packages')
})

test('no other user of the machine can block an installation', async () => {
  using clone = smallClone('')
  // Any user may bind any abstract name, such as the one that the lock was before.
  const name = createHash('sha256').update(`${clone.path.length}:${clone.path}`).digest('hex')
  const stranger = createServer().listen(`\0agentrun-boot:${name}`)
  await once(stranger, 'listening')
  const { code, err } = await launchToEnd(clone.path, ['check'])
  stranger.close()
  expect([code, err.match(/agentrun: .*/g)]).toEqual([0, ['agentrun: getting packages (once, some seconds)']])
  expect(lstatSync(join(clone.path, '.boot-lock')).mode & 0o7777).toBe(0o600)
})

test('a clone whose lock cannot be opened ends the command with one line, and a link instead of it is not followed', async () => {
  using clone = smallClone('')
  const target = join(clone.path, 'target')
  symlinkSync(target, join(clone.path, '.boot-lock'))
  const { code, err } = await launchToEnd(clone.path, ['check'])
  expect([code, existsSync(target)]).toEqual([1, false])
  expect(err).toMatch(
    /^agentrun: cannot set up this clone: \S+\.boot-lock cannot be opened \(ELOOP\); start as its owner, [^\n]*\n$/,
  )
})

test('packages that cannot be installed end the command with one line and leave no stamp', async () => {
  using clone = smallClone('')
  writeFileSync(join(clone.path, 'package-lock.json'), '{}')
  const { code, err } = await launchToEnd(clone.path, ['check'])
  expect(code).toBe(1)
  expect(err.trimEnd().split('\n').at(-1)).toBe(
    'agentrun: npm could not install packages: see above, then try again',
  )
  expect(existsSync(join(clone.path, 'node_modules/.boot-stamp'))).toBe(false)
})

test("agentrun is the command line, and the operator's command as agentrun admin, from any folder and by a link", async () => {
  using clone = smallClone('')
  const programThatPrints = (what: string) =>
    `console.log(JSON.stringify(['${what}', ...process.argv.slice(2)]))`
  mkdirSync(join(clone.path, 'src/client/cli'), { recursive: true })
  writeFileSync(join(clone.path, 'src/client/cli/main.ts'), programThatPrints('cli'))
  writeFileSync(join(clone.path, 'src/admin.ts'), programThatPrints('admin'))
  copyFileSync(join(root, 'agentrun'), join(clone.path, 'agentrun'))
  stampPackages(clone.path)
  mkdirSync(join(clone.path, 'bin'))
  symlinkSync('../agentrun', join(clone.path, 'bin/agentrun'))
  const shell = (...args: string[]) =>
    execFileSync(join(clone.path, 'bin/agentrun'), args, { cwd: '/', encoding: 'utf8' })
  expect(JSON.parse(shell('run', 'two words', '--json'))).toEqual(['cli', 'run', 'two words', '--json'])
  expect(JSON.parse(shell('admin', 'token', '--org', '1'))).toEqual(['admin', 'token', '--org', '1'])
  expect(JSON.parse(shell('show', 'admin'))).toEqual(['cli', 'show', 'admin'])
})

test('a signal to the launcher reaches the command, whose own ending decides', async () => {
  using clone = smallClone(
    "process.on('SIGTERM', () => process.exit(3)); setInterval(() => {}, 1000); console.log('ready')",
  )
  stampPackages(clone.path)
  const launcher = launch(clone.path, ['check'])
  await once(launcher.stdout, 'data')
  launcher.kill('SIGTERM')
  expect(await once(launcher, 'exit')).toEqual([3, null])
})

test('a killed launcher is noticed by the command through its closed channel', async () => {
  using clone = smallClone(
    "process.on('disconnect', () => process.exit(0)); setInterval(() => {}, 1000); console.log(process.pid)",
  )
  stampPackages(clone.path)
  const launcher = launch(clone.path, ['check'])
  const pid = Number(String(await once(launcher.stdout, 'data')))
  launcher.kill('SIGKILL')
  expect(await waitUntil(() => !isAlive(pid), 10_000)).toBe(true)
})

test.runIf(process.getuid?.() === 0)(
  'a package that Debian does not have keeps no other optional one from being installed, and is named',
  async () => {
    using clone = smallClone('')
    const launcher = join(clone.path, 'boot.cjs')
    const changed = readFileSync(launcher, 'utf8')
      .replace(
        "check: { node: ['scripts/check.ts'],",
        "check: { some: ['absent', 'fetched'], node: ['scripts/check.ts'],",
      )
      .replace('const debian_packages = {', "const debian_packages = { absent: 'absent', fetched: 'fetched',")
    writeFileSync(launcher, changed)
    stampPackages(clone.path)
    const programs = join(clone.path, 'programs')
    mkdirSync(programs)
    const apt = `#!/bin/bash
echo "$*" >>${clone.path}/calls
[[ $* != *absent* ]] || exit 100
[[ $* != *fetched* ]] || touch ${programs}/fetched`
    writeFileSync(join(programs, 'apt-get'), apt, { mode: 0o755 })
    const { code, err } = await launchToEnd(clone.path, ['check'], {
      CI: 'true',
      PATH: `${programs}:${process.env.PATH}`,
    })
    expect({ code, err: err.trimEnd().split('\n').at(-1) }).toEqual({
      code: 0,
      err: 'agentrun: needs absent: run "apt-get install absent" as root; until then the tests that want it are skipped',
    })
    const calls = readFileSync(join(clone.path, 'calls'), 'utf8').trimEnd().split('\n')
    expect(calls.map(call => call.replace('install -qq -y --no-install-recommends ', ''))).toEqual([
      ...['absent fetched', 'update -qq', 'absent fetched', 'absent', 'fetched'],
    ])
  },
)

test('an unknown command is one line that names the commands', async () => {
  using clone = smallClone('')
  const { code, err } = await launchToEnd(clone.path, ['serve'])
  expect([code, err]).toEqual([
    1,
    'agentrun: usage: npm run start | npm run dev | npm run check | npm run supply-chain | npm run test | npm run test:long | npm run test:engines | npm run admin | npm run screenshots | npm run bench\n',
  ])
})
