import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildClient } from '../../scripts/build-client.ts'
import { endpoints } from '../../src/contract/endpoints.ts'
import { type App, startApp } from '../start-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { runCli } from './run-cli.ts'

const clone = join(import.meta.dirname, '../..')
const folder = temporaryFolder()
const built = join(folder.path, 'built')
const project = join(folder.path, 'project')
const installed = join(project, 'node_modules/agentrun')

let app: App
beforeAll(async () => {
  app = await startApp()
  await buildClient(built)
  const npm = (...args: string[]) =>
    execFileSync(
      'npm',
      [...args, '--offline', '--silent', '--no-audit', '--no-fund', '--no-update-notifier'],
      {
        cwd: project,
        env: { ...process.env, HOME: folder.path },
      },
    )
  mkdirSync(project)
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'somebody', version: '1.0.0', type: 'module' }),
  )
  npm('pack', built)
  const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'))
  npm('install', `./agentrun-${version}.tgz`)
}, 180_000)
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

function compile(name: string, text: string, lib = ['es2022', 'dom', 'dom.asynciterable']): string {
  writeFileSync(join(project, `${name}.ts`), text)
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    lib,
    types: [],
    strict: true,
    noEmit: true,
  }
  const config = {
    compilerOptions: { ...compilerOptions, allowImportingTsExtensions: true, paths: {} },
    files: [`${name}.ts`],
  }
  writeFileSync(join(project, `${name}.json`), JSON.stringify(config))
  try {
    return execFileSync(
      process.execPath,
      [join(clone, 'node_modules/typescript/bin/tsc'), '-p', `${name}.json`],
      {
        cwd: project,
        encoding: 'utf8',
      },
    )
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

test('a plain JavaScript project that has nothing else starts a run, waits for it, follows it and reads its trace', async () => {
  writeFileSync(
    join(project, 'main.js'),
    `import { createClient, AgentRunError } from 'agentrun'
const client = createClient({ base_url: process.env.BASE, token: process.env.TOKEN })
const run = client.runs.create({ prompt: 'Look around' })
const types = []
for await (const event of run.follow()) if (event.type === 'log') types.push(event.entry.message_type)
const { status, id } = await run.wait({ timeout_ms: 60000 })
const pages = []
for await (const page of client.runs.logs(id, { limit: 2 }).pages()) pages.push(page.logs.length)
const refused = await client.runs.get(424242).catch(error => error)
console.log(JSON.stringify({ status, types, pages, refused: refused instanceof AgentRunError && refused.code }))
`,
  )
  const { code, out, err } = await runCli([join(project, 'main.js')], {
    program: [process.execPath],
    env: { BASE: app.base_url, TOKEN: app.token },
  })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const report = JSON.parse(out)
  expect(report).toMatchObject({ status: 'completed', refused: 'not_found' })
  expect(report.types.at(-1)).toBe('FINAL_ANSWER')
  expect(report.pages.reduce((sum: number, count: number) => sum + count, 0)).toBe(report.types.length)
})

test('the command works from there', async () => {
  const program = [join(project, 'node_modules/.bin/agentrun')]
  const env = { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token }
  expect((await runCli(['--version'], { program })).out).toBe(
    `${JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')).version}\n`,
  )
  expect(await runCli(['run', 'Look around', '--wait'], { program, env })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^run \d+ {2}completed/),
  })
  expect(await runCli(['doctor'], { program, env })).toMatchObject({ code: 0 })
  expect((await runCli(['runs', '--status', 'nothing'], { program, env })).code).toBe(2)
})

test('the SDK is small, needs nothing of Node, and neither of the two carries a schema', () => {
  const sdk = readFileSync(join(installed, 'sdk.js'), 'utf8')
  const cli = readFileSync(join(installed, 'cli.js'), 'utf8')
  expect(gzipSync(sdk, { level: 9 }).length).toBeLessThan(16_000)
  expect(sdk).not.toMatch(/^import |require\(|node:|\bprocess\b|\bBuffer\b/m)
  expect(cli).toMatch(/^#!\/usr\/bin\/env node\n/)
  expect(
    [...new Set([...cli.matchAll(/^import .* from "([^"]+)"/gm)].map(match => match[1] ?? ''))].filter(
      name => !name.startsWith('node:'),
    ),
  ).toEqual([])
  for (const text of [sdk, cli]) expect(text).not.toMatch(/\bzod\b|toJSONSchema|additionalProperties/i)
  expect(Object.keys(endpoints).filter(name => !sdk.includes(`"${name}"`))).toEqual([])
  expect(statSync(join(installed, 'cli.js')).mode & 0o111).toBe(0o111)
  for (const name of ['commander', 'eventsource-parser'])
    expect(existsSync(join(installed, `LICENSE-${name}`))).toBe(true)
})

test('its types are complete without another package, and report mistakes', () => {
  const good = `import { createClient, AgentRunError, isAtRest, type AgentRun, type LogEntry, type RunEvent } from 'agentrun'
const client = createClient({ base_url: 'http://127.0.0.1:4600', token: 'x', retries: 2 })
const run: AgentRun = await client.runs.create({ prompt: 'x', tags: ['a'], budget: { max_cost_usd: 1 } }).wait({ timeout_ms: 1 })
for await (const entry of client.runs.logs(run.id, { message_type: 'ACTION', limit: 10 })) { const it: LogEntry = entry; it.tool_input?.command }
for await (const event of client.runs.follow(run.id)) { const it: RunEvent = event; if (it.type === 'log') it.entry.seq.toFixed() }
const page = await client.call('listAgentRuns', { query: { status: 'failed', archived: true, skip: 1 } })
const status: 'queued' | 'starting' | 'running' | 'waiting' | 'paused' | 'cancelling' | 'completed' | 'failed' | 'cancelled' = page.items[0]!.status
try { await client.call('getAgentRun', { params: { agent_run_id: 1 } }) } catch (error) { if (error instanceof AgentRunError) error.errors[0]?.loc }
export { isAtRest, status }
`
  expect(compile('good', good)).toBe('')
  const wrong: [line: string, error: RegExp][] = [
    ["client.runs.create({ promt: 'x' })", /TS2\d+.*prompt|TS2561/],
    ["client.call('getAgentRun')", /TS2554/],
    ["client.call('listAgentRuns', { query: { status: 'done' } })", /TS2322.*"done"/],
    ["client.call('nothing', {})", /TS2345.*"nothing"/],
    ["client.call('streamAgentRunEvents', { params: { agent_run_id: 1 } })", /TS2345/],
  ]
  const start =
    "import { createClient } from 'agentrun'\nconst client = createClient({ base_url: '', token: '' })\n"
  const output = compile('wrong', start + wrong.map(([line]) => `await ${line}\n`).join(''))
  for (const [n, [line, error]] of wrong.entries())
    expect({ line, message: output.split('\n').find(it => it.startsWith(`wrong.ts(${n + 3},`)) }).toEqual({
      line,
      message: expect.stringMatching(error),
    })
}, 120_000)

test('the built types are those of the contract, operation by operation', () => {
  const source = JSON.stringify(join(clone, 'src/client/sdk/operations.ts'))
  const same = `import type * as Source from ${source}
import type * as Built from 'agentrun'
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : 'the built type lacks something') : 'the built type asks for or promises something else'
type Comparison = { [N in Source.OperationName]: {
  params: Same<Source.Params<N>, Built.Params<N>>
  query: Same<Source.Query<N>, Built.Query<N>>
  body: Same<Source.Body<N>, Built.Body<N>>
  result: Same<Source.Result<N>, Built.Result<N>>
} }
type Yes = { params: true; query: true; body: true; result: true }
const all: { [N in keyof Comparison]: Comparison[N] extends Yes ? true : Comparison[N] } = null as unknown as { [N in Built.OperationName]: true }
const names: Same<Source.OperationName, Built.OperationName> = true
const entry: Same<Source.LogEntry, Built.LogEntry> = true
export { all, names, entry }
`
  expect(compile('same', same, ['esnext', 'dom'])).toBe('')
  const declarations = join(installed, 'types/operations.d.ts')
  const text = readFileSync(declarations, 'utf8')
  writeFileSync(declarations, text.replace('total_logs: number', 'total_logs: string'))
  expect(compile('same', same, ['esnext', 'dom'])).toMatch(/error TS2322.*AgentRun/)
}, 120_000)
