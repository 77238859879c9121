import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pktLine } from '../../src/git/process/pkt-line.ts'
import { createTestDatabase } from '../database.ts'
import { type ServiceProcess, startServiceProcess } from '../runs/recovery/service-process.ts'
import { TOKEN } from '../start-app.ts'

/** Bytes beyond every bound of a body once they are unpacked, and few before. */
const BOMB = gzipSync(Buffer.alloc(64 * 1024 ** 2))

const stack = new AsyncDisposableStack()
let service: ServiceProcess
let log_file: string
/** Of two users: one may have only some of these bodies on their way to git at a time. */
let tokens: string[]
const output = () => readFileSync(log_file, 'utf8')
beforeAll(async () => {
  const { url } = stack.use(await createTestDatabase())
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-bodies-')))
  chmodSync(folder, 0o755)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const limits = ['STANDARD', 'AGENT_CREATION', 'TOKEN_TOTAL', 'SESSION'].map(name => [
    `AGENTRUN_LIMIT_${name}`,
    'off',
  ])
  log_file = join(folder, 'log')
  service = await startServiceProcess(
    {
      ...Object.fromEntries(limits),
      DATABASE_URL: url,
      AGENTRUN_DATA_DIR: join(folder, 'data'),
      AGENTRUN_INIT_TOKEN: TOKEN,
      AGENTRUN_SAMPLE: '1',
    },
    'serve',
    log_file,
  )
  stack.defer(async () => {
    service.child.kill('SIGTERM')
    await service.ended
  })
  expect(service.base_url, service.output).not.toBe('')
  const { id } = await create('service-users', { name: 'second', role: 'ADMIN' })
  tokens = [TOKEN, (await create('tokens', { name: 'second', user_id: id })).token]
}, 60_000)
afterAll(() => stack.disposeAsync())

/** Creates something in the organization by the API. */
async function create(what: string, body: object): Promise<{ id: number; token: string }> {
  const response = await fetch(`${service.base_url}/v1/organizations/1/${what}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return (await response.json()) as { id: number; token: string }
}

type Route = { name: string; method: string; path: string; type?: string; headers?: string[] }
const git = (name: string, repo_id: number, service: string): Route => ({
  name,
  method: 'POST',
  path: `/git/1/${repo_id}.git/git-${service}`,
  type: `application/x-git-${service}-request`,
})
const routes: Route[] = [
  git('upload-pack', 1, 'upload-pack'),
  git('upload-pack of no repository', 999_999, 'upload-pack'),
  git('receive-pack', 1, 'receive-pack'),
  git('receive-pack of no repository', 999_999, 'receive-pack'),
  { name: 'info/refs', method: 'GET', path: '/git/1/1.git/info/refs?service=git-upload-pack' },
  { name: 'info/refs to push', method: 'GET', path: '/git/1/1.git/info/refs?service=git-receive-pack' },
  { name: 'events of a run', method: 'GET', path: '/v1/organizations/1/agent/run/1/events' },
  { name: 'events of an organization', method: 'GET', path: '/v1/organizations/1/events' },
  { name: 'an artifact', method: 'GET', path: '/v1/organizations/1/agent/run/1/artifacts/1' },
  { name: 'create', method: 'POST', path: '/v1/organizations/1/agent/run', type: 'application/json' },
  {
    name: 'create by a form',
    method: 'POST',
    path: '/v1/organizations/1/agent/run',
    type: 'multipart/form-data; boundary=x',
  },
  { name: 'session', method: 'POST', path: '/session', type: 'application/json' },
  {
    name: 'GitHub hook',
    method: 'POST',
    path: '/hooks/github/1',
    type: 'application/json',
    headers: ['x-github-event: push'],
  },
  {
    name: 'Gitea hook',
    method: 'POST',
    path: '/hooks/gitea/1',
    type: 'application/json',
    headers: ['x-gitea-event: push'],
  },
  { name: 'the page', method: 'GET', path: '/', headers: ['accept: text/html'] },
  { name: 'a static file', method: 'GET', path: '/assets/none.js' },
  { name: 'no path', method: 'POST', path: '/nothing', type: 'application/json' },
]

/**
 * What is sent after the headers. `whole`: it is all that the headers announce. `ends`: the client leaves as
 * soon as it has sent it.
 */
type Body = { name: string; headers: string[]; bytes: Buffer; whole?: true; ends?: true }
const noise = randomBytes(500)
const bodies: Body[] = [
  { name: 'no gzip, incomplete', headers: ['content-encoding: gzip', 'content-length: 1000'], bytes: noise },
  {
    name: 'no gzip, incomplete, client gone',
    headers: ['content-encoding: gzip', 'content-length: 1000'],
    bytes: noise,
    ends: true,
  },
  { name: 'no gzip', headers: ['content-encoding: gzip', 'content-length: 500'], bytes: noise, whole: true },
  {
    name: 'gzip cut off',
    headers: ['content-encoding: gzip', `content-length: ${BOMB.length}`],
    bytes: BOMB.subarray(0, 99),
    ends: true,
  },
  {
    name: 'a bomb',
    headers: ['content-encoding: gzip', `content-length: ${BOMB.length}`],
    bytes: BOMB,
    whole: true,
  },
  {
    name: 'a bomb without its end',
    headers: ['content-encoding: gzip', `content-length: ${BOMB.length + 99}`],
    bytes: BOMB,
  },
  {
    name: 'two bombs',
    headers: ['content-encoding: gzip', `content-length: ${2 * BOMB.length}`],
    bytes: Buffer.concat([BOMB, BOMB]),
    whole: true,
  },
  { name: 'another encoding', headers: ['content-encoding: br', 'content-length: 1000'], bytes: noise },
  { name: 'plain, incomplete', headers: ['content-length: 1000'], bytes: noise, ends: true },
  {
    name: 'plain, refused at its first bytes',
    headers: ['content-length: 1000000000'],
    bytes: Buffer.alloc(20 * 1024 ** 2, '0009x\0x'),
  },
  {
    name: 'chunks without an end',
    headers: ['transfer-encoding: chunked'],
    bytes: Buffer.from('4\r\n0000\r\n'),
    ends: true,
  },
  {
    name: 'chunks of no length',
    headers: ['transfer-encoding: chunked'],
    bytes: Buffer.from('zz\r\n0000\r\n'),
  },
  { name: 'a push that is cut off', headers: ['content-length: 1000'], bytes: push(), ends: true },
  { name: 'a request of git', headers: ['content-length: 4'], bytes: Buffer.from('0000'), whole: true },
]

function push(): Buffer {
  const command = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/x\0report-status\n`
  return Buffer.concat([pktLine(command), Buffer.from('0000PACK')])
}

/** The status of the response, null when there was none. Resolves when the connection has ended. */
async function send(route: Route, body: Body, token: string): Promise<number | null> {
  const { hostname, port } = new URL(service.base_url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  const closed = new Promise(resolve => socket.once('close', resolve))
  let text = ''
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
    // A stream continues, and so does a connection whose request was read completely; the service has to end
    // any other.
    if (text.includes('text/event-stream') || body.whole) socket.destroy()
  })
  const authorization = route.path.startsWith('/git')
    ? `Basic ${Buffer.from(`x:${token}`).toString('base64')}`
    : `Bearer ${token}`
  const head = [
    `${route.method} ${route.path} HTTP/1.1`,
    ...[
      'host: localhost',
      `authorization: ${authorization}`,
      ...(route.type ? [`content-type: ${route.type}`] : []),
    ],
    ...[...(route.headers ?? []), ...body.headers],
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(body.bytes, () => body.ends && socket.destroySoon())
  await closed
  return text === '' ? null : Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])
}

/** Sends each body of each kind, and expects that none ends the service or is an error of its own. */
async function sendAll(route: Route): Promise<void> {
  const cases = bodies.flatMap((body, i) =>
    [tokens[i % 2] ?? '', 'no-such-token-0123456789'].map(token => ({ token, body })),
  )
  // In parallel, because the service ends a connection after a second.
  await Promise.all(
    cases.map(async ({ token, body }) => {
      const status = await send(route, body, token)
      expect(status ?? 0, body.name).toBeLessThan(500)
      if (!body.ends) expect(status, body.name).not.toBeNull()
    }),
  )
  expect((await fetch(`${service.base_url}/healthz`)).status).toBe(200)
  expect(output()).not.toContain('was not caught')
}

const name = '$name: no body of any kind ends the service or is an error of its own'
const isOfGit = ({ path }: Route) => path.startsWith('/git')

test.each(routes.filter(isOfGit))(name, sendAll, 120_000)
// Most of these wait for the limit of a request: at the same time.
test.concurrent.each(routes.filter(route => !isOfGit(route)))(name, sendAll, 120_000)
