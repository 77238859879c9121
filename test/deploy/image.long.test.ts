import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { DatabaseProxy } from '../api/database/database-proxy.ts'
import { createTestDatabase } from '../database.ts'
import { startEngine, type TestEngine } from '../sandbox/containers/start-engine.ts'
import { root } from '../system/small-clone.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { compose, compose_confines, prepareCompose } from './start-compose.ts'
import {
  buildImage,
  buildNodeBase,
  type Docker,
  dockerOf,
  imageProblem,
  importDebian,
  installInDebian,
  packServer,
} from './start-image.ts'

type Run = { id: number; status: string; terminal: boolean }

const { services } = parse(readFileSync(join(root, 'deploy/compose/compose.yaml'), 'utf8'))
/** The options of compose.yaml, which the image is started with. */
const confinement: string[] = [
  ...services.agentrun.security_opt.flatMap((option: string) => [
    '--security-opt',
    option.replace(/^(seccomp|apparmor):/, '$1='),
  ]),
  ...services.agentrun.cap_drop.flatMap((name: string) => ['--cap-drop', name]),
  ...services.agentrun.tmpfs.flatMap((path: string) => ['--tmpfs', path]),
  ...(services.agentrun.read_only ? ['--read-only'] : []),
]

async function freePort(): Promise<number> {
  await using server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe.skipIf((await imageProblem()) !== null)('the image of the service', () => {
  const folder = temporaryFolder()
  let engine: TestEngine
  let docker: Docker
  beforeAll(async () => {
    engine = await startEngine('docker', { storage: 'detected' })
    docker = dockerOf(engine.socket)
    await Promise.all([importDebian(docker, folder.path), packServer(folder.path)])
    await buildNodeBase(docker, folder.path)
    await buildImage(docker)
  }, 1_200_000)
  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  }, 300_000)

  test('has at most 350 MB, the packages of the server at most 100 MB, and no user but its own', async () => {
    expect(Number(await docker('image', 'inspect', 'agentrun:test', '--format', '{{.Size}}'))).toBeLessThan(
      350e6,
    )
    const inside = (command: string) =>
      docker('run', '--rm', '--network', 'none', '--entrypoint', 'bash', 'agentrun:test', '-c', command)
    expect(Number((await inside('du -s --block-size=1 node_modules')).split('\t')[0])).toBeLessThan(100e6)
    expect(await inside('id -u; node -p process.version; find / -xdev -user 10001 2>/dev/null || true')).toBe(
      `10001\n${process.version}\n/data`,
    )
    expect(await inside('find . -name "*.ts" -o -name "*.map" | wc -l')).toBe('0')
  })

  test('runs the quickstart with a configuration file and a read-only root, without capabilities and as no root, is healthy, and stops with 0', async () => {
    await using database = await createTestDatabase()
    // The user of the container cannot open the database's own socket.
    await using proxy = new DatabaseProxy(database.url)
    await proxy.up()
    const [port, metrics_port] = [await freePort(), await freePort()]
    const address = `http://127.0.0.1:${port}`
    const variables = {
      DATABASE_URL: proxy.url,
      AGENTRUN_PORT: `${port}`,
      AGENTRUN_HOST: '127.0.0.1',
      AGENTRUN_SECRET_KEY: 'ab'.repeat(32),
    }
    const env = Object.entries({ ...variables, AGENTRUN_METRICS_PORT: `${metrics_port}` }).flatMap(
      ([name, value]) => ['--env', `${name}=${value}`],
    )
    const file = join(folder.path, 'agentrun.toml')
    writeFileSync(file, 'AGENTRUN_INIT_ORG = "Of the file"\n', { mode: 0o644 })
    const configuration = [
      '--volume',
      `${file}:/etc/agentrun.toml:ro`,
      '--env',
      'AGENTRUN_CONFIG=/etc/agentrun.toml',
    ]
    const id = await docker(
      'run',
      '--detach',
      '--network',
      'host',
      ...confinement,
      ...env,
      ...configuration,
      'agentrun:test',
    )
    await waitFor(
      async () => (await docker('logs', id)).includes('is ready'),
      () => docker('logs', id),
    )
    expect(await (await fetch(`${address}/readyz`)).json()).toMatchObject({
      workers: 'ready',
      sandbox: 'bubblewrap',
    })
    const authorization = `Bearer ${await docker('exec', id, 'cat', '/data/initial-token')}`
    const organizations = await fetch(`${address}/v1/organizations`, { headers: { authorization } })
    expect(await organizations.json()).toMatchObject({ items: [{ name: 'Of the file' }] })
    expect(await completedRun(address, authorization, () => docker('logs', id))).toMatchObject({
      status: 'completed',
    })
    await docker('stop', '--time', '60', id)
    expect(await docker('inspect', id, '--format', '{{.State.ExitCode}}')).toBe('0')
  }, 180_000)

  test('without user namespaces it accepts runs, and its readiness names what to allow', async () => {
    await using database = await createTestDatabase()
    await using proxy = new DatabaseProxy(database.url)
    await proxy.up()
    const port = await freePort()
    const env = [
      `DATABASE_URL=${proxy.url}`,
      `AGENTRUN_PORT=${port}`,
      `AGENTRUN_SECRET_KEY=${'ab'.repeat(32)}`,
      'AGENTRUN_METRICS_PORT=0',
    ]
    const id = await docker(
      'run',
      '--detach',
      '--network',
      'host',
      '--cap-drop',
      'ALL',
      ...env.flatMap(one => ['--env', one]),
      'agentrun:test',
    )
    const status = async () =>
      (await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()) as {
        workers: string
        workers_reason: string
      }
    await waitFor(
      async () => (await status()).workers === 'blocked',
      () => docker('logs', id),
    )
    expect((await status()).workers_reason).toMatch(/user namespaces/)
    await docker('rm', '--force', id)
  }, 120_000)

  test.skipIf(compose === undefined)(
    'the compose file starts it after a healthy database, and both keep their data when they are recreated',
    async () => {
      const port = await freePort()
      const address = `http://127.0.0.1:${port}`
      const command = await prepareCompose(docker, engine.socket, folder.path, port)
      const workers = async () =>
        ((await (await fetch(`${address}/readyz`)).json()) as { workers: string }).workers
      const started = () =>
        waitFor(
          async () => (await workers()) === (compose_confines ? 'blocked' : 'ready'),
          () => command('logs'),
        )
      try {
        await command('up', '--detach', '--no-build')
        await started()
        const authorization = `Bearer ${await command('exec', '-T', 'agentrun', 'cat', '/data/initial-token')}`
        if (!compose_confines) await completedRun(address, authorization, () => command('logs'))
        const organizations = async () =>
          (await fetch(`${address}/v1/organizations`, { headers: { authorization } })).json()
        const before = await organizations()
        expect(before).toMatchObject({ items: [{ id: 1 }] })
        await command('up', '--detach', '--no-build', '--force-recreate')
        await started()
        expect(await organizations()).toEqual(before)
      } finally {
        await command('down', '--volumes')
      }
    },
    300_000,
  )

  test('the install script installs and updates the unit in a fresh Debian, and its command starts as its user, without capabilities', async () => {
    const output = await installInDebian(docker, folder.path)
    for (const line of [
      'settings are kept',
      'unit is installed',
      'ended with 0',
      '600 root /etc/agentrun/agentrun.env',
    ])
      expect(output).toContain(line)
    expect(output).toMatch(/711 agentrun \/var\/lib\/agentrun\n755 root \/opt\/agentrun/)
    expect(output).toContain('Agent Run Service is ready')
    expect(output).toContain('AGENTRUN_PORT=0 (/var/lib/agentrun/agentrun.toml, line 1)')
    expect(output).not.toContain('Runs are accepted but none is started')
  }, 600_000)

  test('without a database it does not start, and its message names DATABASE_URL', async () => {
    const id = await docker('create', '--network', 'none', 'agentrun:test')
    await docker('start', id)
    expect(await docker('wait', id)).toBe('1')
    await docker('rm', id)
    await expect(docker('run', '--rm', '--network', 'none', 'agentrun:test')).rejects.toThrow(
      /set DATABASE_URL to a PostgreSQL of your own/,
    )
  })

  test('with a data folder of another user it names the folder, once', async () => {
    const closed = join(folder.path, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const options = [
      '--network',
      'none',
      '--env',
      'DATABASE_URL=postgres://x/x',
      '--volume',
      `${closed}:/data`,
    ]
    await expect(docker('run', '--rm', ...options, 'agentrun:test')).rejects.toThrow(
      /\ncannot start: cannot use \/data as data folder \(EACCES\): set AGENTRUN_DATA_DIR [^\n]*\n$/,
    )
  })
})

/** Creates a run of the scripted model and returns it when it has ended. */
async function completedRun(
  address: string,
  authorization: string,
  log: () => Promise<string>,
): Promise<Run> {
  const runs = `${address}/v1/organizations/1/agent/run`
  const headers = { authorization, 'content-type': 'application/json' }
  const created = await fetch(runs, { method: 'POST', headers, body: '{"prompt":"Look around"}' })
  const { id } = (await created.json()) as Run
  const read = async () => (await (await fetch(`${runs}/${id}`, { headers })).json()) as Run
  await waitFor(async () => (await read()).terminal, log)
  return await read()
}

/** Polls a program that reports nothing; fails with what it logged. */
async function waitFor(fits: () => Promise<boolean>, log: () => Promise<string>): Promise<void> {
  for (let tries = 0; tries < 240; tries++) {
    if (await fits().catch(() => false)) return
    await setTimeout(250)
  }
  throw new Error(`not within a minute: ${await log()}`)
}
