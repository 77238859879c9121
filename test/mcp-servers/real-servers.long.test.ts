import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servePlain } from '../egress/servers.ts'
import type { FakeScript } from '../model/fake-server.ts'
import { calls, finish, PRICED } from '../runs/coding-app.ts'
import { callsInTurn, playRun, startMcpApp } from './mcp-app.ts'

const run = promisify(execFile)
const VERSION = '2026.8.31'
const packages = ['everything', 'filesystem'].map(name => `@modelcontextprotocol/server-${name}@${VERSION}`)

const servers_folder = join(tmpdir(), `agentrun-test-mcp-servers-${VERSION}`)

/** Installs the official reference servers from npm once per machine, and returns them as an archive. */
async function archiveOfServers(): Promise<Buffer> {
  const folder = servers_folder
  if (!existsSync(folder)) {
    const preparing = `${folder}-${process.pid}`
    mkdirSync(preparing, { recursive: true })
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', preparing, ...packages], {
      cwd: preparing,
    })
    await run('tar', ['czf', 'servers.tgz', 'node_modules'], { cwd: preparing })
    renameSync(preparing, folder)
  }
  return readFileSync(join(folder, 'servers.tgz'))
}

/** The sandbox has no network, so the repository contains the archive. */
const server = (name: string, ...args: string[]) => {
  const folder = `/tmp/${name}`
  const start = `mkdir -p ${folder} && tar xzf /workspace/servers.tgz -C ${folder} && exec node ${folder}/node_modules/@modelcontextprotocol/server-${name}/dist/index.js "$@"`
  return { command: 'bash', args: ['-c', start, name, ...args], timeout_seconds: 60 }
}

let app: Awaited<ReturnType<typeof startMcpApp>>
let script: FakeScript = callsInTurn()
beforeAll(async () => {
  const archive = await archiveOfServers()
  app = await startMcpApp(
    (request, n) => script(request, n),
    { AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' },
    { 'servers.tgz': archive },
  )
  await app.servers.set('everything', server('everything'))
  await app.servers.set('filesystem', server('filesystem', '/workspace'))
}, 120_000)
afterAll(() => app[Symbol.asyncDispose]())

test('the reference servers offer their tools, and what one writes is in the pull request', async () => {
  script = callsInTurn(
    { name: 'everything__echo', arguments: { message: 'hello' } },
    { name: 'everything__get-sum', arguments: { a: 2, b: 40 } },
    { name: 'everything__get-sum', arguments: { a: 'two' } },
    { name: 'filesystem__write_file', arguments: { path: '/workspace/note.txt', content: 'by MCP\n' } },
    { name: 'filesystem__read_text_file', arguments: { path: '/etc/passwd' } },
  )
  const { run, tools, actions } = await playRun(app)
  expect(run).toMatchObject({ status: 'completed' })
  expect(tools).toEqual(
    expect.arrayContaining(['everything__echo', 'filesystem__write_file', 'filesystem__directory_tree']),
  )
  const results = actions
    .filter(({ tool_name }) => tool_name?.includes('__'))
    .map(({ tool_output }) => tool_output)
  expect(results).toMatchObject([
    { status: 'ok', text: 'Echo: hello' },
    { status: 'ok', text: expect.stringContaining('42') },
    { status: 'error', error: expect.stringContaining('expected number') },
    { status: 'ok', text: expect.stringContaining('note.txt') },
    { status: 'error', error: expect.stringContaining('Access denied') },
  ])
  const [pull_request] = run.github_pull_requests
  expect(app.git('show', `${pull_request.head_branch_name}:note.txt`)).toBe('by MCP\n')
}, 120_000)

test('an image of a reference server reaches a model that accepts images', async () => {
  const from = app.model.requests.length
  script = (_, n) =>
    n === from ? calls({ name: 'everything__get-tiny-image', arguments: {} }) : finish('Done.')
  const { run, requests } = await playRun(app, { model: PRICED.model })
  expect(run).toMatchObject({ status: 'completed' })
  expect(JSON.stringify(requests[1]?.body)).toContain('data:image/png;base64,')
}, 120_000)

test('a reference server of an earlier revision is used by its address, and its session is ended', async () => {
  const port = await freePort()
  const program = join(servers_folder, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
  const child = spawn(process.execPath, [program, 'streamableHttp'], { env: { PORT: `${port}` } })
  try {
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    await expect.poll(() => output, { timeout: 20_000 }).toContain(`${port}`)
    const agent = { mode: 'allowlist', allow: [{ host: 'localhost', port }] }
    await app.call('PUT', `/v1/organizations/${app.org_id}/egress`, { agent })
    for (const name of ['everything', 'filesystem']) await app.servers.remove(name)
    await app.servers.set('remote', { url: `http://localhost:${port}/mcp` })
    script = callsInTurn({ name: 'remote__echo', arguments: { message: 'by HTTP' } })
    const { run, actions } = await playRun(app)
    expect(run).toMatchObject({ status: 'completed' })
    expect(
      actions.find(({ tool_name }) => tool_name === 'mcp_connections')?.tool_output.servers,
    ).toMatchObject([{ protocol: '2025-11-25' }])
    expect(actions.find(({ tool_name }) => tool_name === 'remote__echo')?.tool_output.text).toBe(
      'Echo: by HTTP',
    )
    await expect.poll(() => output).toMatch(/terminat/i)
  } finally {
    child.kill('SIGKILL')
  }
}, 120_000)

async function freePort(): Promise<number> {
  await using server = await servePlain((_, response) => response.end())
  return server.port
}
