import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'
import { servePlain } from '../egress/servers.ts'
import { emptyDatabase } from '../empty-database.ts'
import { responses } from '../runs/coding-app.ts'
import { type Cluster, startApiCluster } from '../runs/recovery/cluster.ts'
import { TOKEN } from '../start-app.ts'
import { program_env } from '../system/program-env.ts'

const program = fileURLToPath(new URL('../../src/admin.ts', import.meta.url))
const key = '0'.repeat(64)

async function doctor(env: Record<string, string>): Promise<{ code: number; lines: string[]; err: string }> {
  const child = spawn(process.execPath, [program, 'doctor'], {
    env: { ...program_env, AGENTRUN_SECRET_KEY: key, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, lines: out.trimEnd().split('\n'), err }
}
const processes = (cluster: Cluster) =>
  cluster.rows<{ role: string }>('select role from processes order by role')

test('a cluster whose processes fit together has nothing broken, and each of them is listed', async () => {
  await using database = await emptyDatabase()
  await using cluster = await startApiCluster(responses({ text: 'x' }), { DATABASE_URL: database.url })
  const worker = await cluster.start('work')
  await expect.poll(() => processes(cluster)).toEqual([{ role: 'serve' }, { role: 'work' }])
  const env = { DATABASE_URL: database.url, AGENTRUN_BASE_URL: cluster.api.base_url }
  const { code, lines } = await doctor({ ...env, AGENTRUN_TOKEN: TOKEN })
  expect(lines).toEqual([
    expect.stringMatching(/^ok database: PostgreSQL 1\d/),
    expect.stringMatching(/^ok migrations: \d{4}_/),
    expect.stringMatching(
      new RegExp(
        `^ok process: serve on .*pid ${cluster.api.child.pid}\\), version .*, reported \\d+ s ago, clock`,
      ),
    ),
    expect.stringMatching(new RegExp(`^ok process: work on .*pid ${worker.child.pid}\\)`)),
    'ok processes: 1 serve, 1 work',
    expect.stringMatching(/^ok versions: /),
    'ok clocks: within 2 s of the database',
    'ok keys: all processes seal secrets with the same key',
    'ok queue: 0 runs wait for a worker',
    `ok address: ${cluster.api.base_url}`,
    'ok compression: gzip',
    'ok events: come through',
  ])
  expect(code).toBe(0)
  worker.child.kill('SIGTERM')
  await worker.ended
  expect(await processes(cluster)).toEqual([{ role: 'serve' }])
}, 60_000)

test('what does not fit together is reported with its fix, and the exit code is 1', async () => {
  await using database = await emptyDatabase()
  await using cluster = await startApiCluster(responses({ text: 'x' }), {
    DATABASE_URL: database.url,
    AGENTRUN_WORKER_CONCURRENCY: '0',
  })
  await cluster.start('work', undefined, {
    AGENTRUN_SECRET_KEY: '1'.repeat(64),
    AGENTRUN_BASE_URL: 'https://other.example',
  })
  await cluster.start('work', undefined, { AGENTRUN_BASE_URL: 'https://agents.example' })
  await expect.poll(() => processes(cluster)).toHaveLength(3)
  await cluster.createRun({ prompt: 'x' })
  await database.query(`update runs set runnable_at = now() - interval '5 minutes'`)
  // As another machine would report itself: killed, of an earlier version, on a copied data folder, with a
  // wrong clock.
  await database.query(`insert into processes (
      id, role, host, pid, version, newest_migration, folder_id, key_id, clock_ahead_ms, seen_at
    )
    select 'silent', 'work', 'far', 1, version, newest_migration, 'folder-1', key_id, 0,
      now() - interval '2 minutes'
    from processes
    where base_url = 'https://other.example'
    union all select 'old', 'work', 'near', 2, '0.0.9', '0001_baseline.sql', folder_id, key_id, -9000, now()
    from processes
    where base_url = 'https://other.example'`)
  const { code, lines } = await doctor({
    DATABASE_URL: database.url,
    AGENTRUN_BASE_URL: 'http://127.0.0.1:9',
  })
  const found = lines.filter(line => !line.startsWith('ok'))
  const expected = [
    ['warning processes: work on far (pid 1): no report for 30 s', 'one that was killed'],
    ['warning versions: ', 'complete the upgrade'],
    ['BROKEN clocks: work on near (pid 2): 9.0 s behind the database', 'NTP'],
    ['BROKEN keys: different keys', 'AGENTRUN_SECRET_KEY'],
    ['BROKEN data folders: ', 'delete the file "id"'],
    ['warning addresses: ', 'AGENTRUN_BASE_URL'],
    ['BROKEN keys: work on ', 'AGENTRUN_SECRET_KEY'],
    ['warning queue: 1 run waits for a worker, the oldest for 30', 'add workers'],
    ['BROKEN address: http://127.0.0.1:9 cannot be reached from here', 'AGENTRUN_BASE_URL'],
  ]
  for (const [finding = '', fix = ''] of expected) {
    const index = found.findIndex(line => line.startsWith(finding))
    expect({ finding, index: index >= 0 ? 'found' : found, fix: found[index + 1] }).toEqual({
      finding,
      index: 'found',
      fix: expect.stringContaining(fix),
    })
  }
  expect(code).toBe(1)
}, 60_000)

test('without a database, with an older schema, and without a process', async () => {
  expect(await doctor({ DATABASE_URL: 'postgres://x@127.0.0.1:9/x' })).toMatchObject({
    code: 1,
    lines: [
      expect.stringMatching(/^BROKEN database: does not respond/),
      expect.stringContaining('DATABASE_URL'),
    ],
  })
  await using database = await emptyDatabase()
  await migrate(database.url, { only: name => name < '0004' })
  const older = await doctor({ DATABASE_URL: database.url })
  expect(older).toMatchObject({ code: 1 })
  expect(older.lines.slice(-2)).toEqual([
    expect.stringMatching(/^BROKEN migrations: 0004_.* not applied$/),
    expect.stringContaining('./agentrun migrate'),
  ])
  await migrate(database.url)
  expect(
    (await doctor({ DATABASE_URL: database.url, AGENTRUN_BASE_URL: 'http://127.0.0.1:9' })).lines,
  ).toContain('BROKEN processes: none is alive')
})

test('a proxy that holds streams back, and one that removes the compression', async () => {
  await using database = await emptyDatabase()
  await using cluster = await startApiCluster(responses({ text: 'x' }), { DATABASE_URL: database.url })
  await using proxy = await servePlain(async (request, response) => {
    if (request.url?.endsWith('/events'))
      return void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    const answered = await fetch(cluster.api.base_url + request.url, {
      headers: {
        ...(request.headers.authorization && { authorization: request.headers.authorization }),
        'accept-encoding': 'identity',
      },
    })
    response
      .writeHead(answered.status, { 'content-type': answered.headers.get('content-type') ?? '' })
      .end(await answered.text())
  })
  const { lines } = await doctor({
    DATABASE_URL: database.url,
    AGENTRUN_BASE_URL: `http://127.0.0.1:${proxy.port}`,
    AGENTRUN_TOKEN: TOKEN,
  })
  expect(lines).toContain('warning compression: responses arrive uncompressed')
  expect(lines).toContain('BROKEN events: the stream opens, but nothing comes through')
}, 60_000)
