import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ToolExecution, Tools } from '../../../src/contract/runs/tool-execution.ts'
import { toolInputs } from '../../../src/contract/runs/tools.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../../runs/await-run.ts'
import { gitIn, makeRepository } from '../../runs/coding-app.ts'
import { type ApiResponse, type App, rows, startApp } from '../../start-app.ts'
import { addCaller } from '../access/add-caller.ts'
import { addTenant } from '../access/second-organization.ts'
import { withProfile } from '../clients/with-profile.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let repository: string
beforeAll(async () => {
  repository = makeRepository()
  app = await startApp({ AGENTRUN_INIT_REPO_URL: repository })
})
afterAll(() => app[Symbol.asyncDispose]())

const org = (path: string) => `/v1/organizations/${app.org_id}${path}`
const request = (body: unknown, from: Pick<App, 'call'> = app, headers?: Record<string, string>) =>
  from.call('POST', org('/tools/execute'), body, headers)
const shell = (command: string, timeout_seconds?: number) => ({
  tool_name: 'shell',
  arguments: { command, timeout_seconds },
})
function executed({ status, body }: ApiResponse): ToolExecution {
  expect({ status, body }).toMatchObject({ status: 200 })
  return ToolExecution.strict().parse(body)
}
const runOf = async (id: number) => (await app.call('GET', org(`/agent/run/${id}`))).body
const foldersOf = (id: number) =>
  readdirSync(join(app.data_dir, 'workspaces')).filter(name => name.startsWith(`${id}-`))

describe('200', () => {
  test('listTools: the tools that can be executed, each with the schema of its arguments', async () => {
    const { tools, total_count } = Tools.strict().parse((await app.call('GET', org('/tools'))).body)
    expect([tools.map(tool => tool.name), total_count]).toEqual([['shell', 'read', 'search'], 3])
    for (const { parameters, description } of tools)
      expect([parameters.type, description.length > 20]).toEqual(['object', true])
    for (const name of Object.keys(toolInputs).filter(name => !tools.some(tool => tool.name === name)))
      expectProblem(await request({ tool_name: name, arguments: {} }), 400, 'body.tool_name')
  })

  test('a command runs in the sandbox of the repository; its run is archived, audited, and leaves no branch and no files', async () => {
    const before = gitIn(repository, 'for-each-ref')
    const result = executed(await request(shell('cat count.js && echo changed > README.md && whoami')))
    expect(result).toMatchObject({
      success: true,
      error: null,
      tool_name: 'shell',
      result: { status: 'ok', exit_code: 0 },
    })
    expect(result.result?.output).toContain('export const one = 1')
    const { agent_run_id: id } = result
    expect(await runOf(id)).toMatchObject({
      status: 'completed',
      archived: true,
      source_type: 'TOOL',
      github_pull_requests: [],
    })
    expect((await allLogs(app, id)).filter(log => log.tool_name === 'shell')).toHaveLength(1)
    const listed = (await app.call('GET', org('/agent/runs'))).body.items as { id: number }[]
    expect(listed.map(run => run.id)).not.toContain(id)
    const audited = await rows(
      app,
      `select target_id, detail
        from audit_entries
        where action = 'tool.executed' and target_id = $1`,
      [`${id}`],
    )
    expect(audited).toEqual([
      { target_id: `${id}`, detail: JSON.stringify({ tool_name: 'shell', repo_id: app.repo_id }) },
    ])
    await expect.poll(() => foldersOf(id), { timeout: 10_000 }).toEqual([])
    expect(gitIn(repository, 'for-each-ref')).toBe(before)
    expect(gitIn(repository, 'status', '--porcelain')).toBe('')
  })

  test('read and search return their results', async () => {
    const read = executed(
      await request({ tool_name: 'read', arguments: { path: 'count.js' }, repo_id: app.repo_id }),
    )
    expect([read.success, JSON.stringify(read.result)]).toEqual([
      true,
      expect.stringContaining('export const one'),
    ])
    const found = executed(await request({ tool_name: 'search', arguments: { pattern: 'one = [0-9]' } }))
    expect([found.success, JSON.stringify(found.result)]).toEqual([
      true,
      expect.stringContaining('count.js:1:'),
    ])
    const missing = executed(await request({ tool_name: 'read', arguments: { path: 'missing.txt' } }))
    expect([missing.success, missing.error]).toEqual([false, expect.stringContaining('missing.txt')])
  })

  test('a failed command and a killed one are results with their output', async () => {
    const failed = executed(await request(shell('echo before; false')))
    expect(failed).toMatchObject({
      success: false,
      error: 'The command exited with code 1.',
      result: { status: 'error', exit_code: 1 },
    })
    expect(failed.result?.output).toContain('before')
    const killed = executed(await request(shell('echo begun; sleep 600', 1)))
    expect(killed).toMatchObject({
      success: false,
      error: expect.stringContaining('longer than 1 s'),
      result: { status: 'timeout' },
    })
    expect(killed.result?.output).toContain('begun')
  })

  test('the value of a secret is in no result, and the tool has it by its name', async () => {
    const secret = 'a"very\\secret value 4711'
    await app.call('PUT', org('/secrets/DEPLOY_KEY'), { value: secret, for_agent: true })
    const result = executed(await request(shell('echo "$DEPLOY_KEY"; printf %s "$DEPLOY_KEY" | wc -c')))
    expect(result.result?.output).toContain(`${secret.length}`)
    expect(JSON.stringify(result)).not.toContain('4711')
    const typed = executed(await request(shell(`printf '%s' '${secret}' | wc -c`)))
    expect(typed.success).toBe(true)
    expect(
      JSON.stringify([await runOf(typed.agent_run_id), await allLogs(app, typed.agent_run_id)]),
    ).not.toContain('4711')
    await app.call('DELETE', org('/secrets/DEPLOY_KEY'))
  })

  test('under wire profile codegen its run is shown as API', async () => {
    const codegen = await withProfile(app, 'codegen')
    const { agent_run_id } = executed(await request(shell('true'), codegen))
    expect((await codegen.call('GET', org(`/agent/run/${agent_run_id}`))).body).toMatchObject({
      source_type: 'API',
      status: 'COMPLETE',
    })
  })

  test('a client that disconnects stops the run, and its workspace is removed', async () => {
    const leaving = new AbortController()
    const response = fetch(app.base_url + org('/tools/execute'), {
      method: 'POST',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(shell('sleep 600')),
      signal: leaving.signal,
    })
    response.catch(() => {})
    const running = async () =>
      (
        await rows<{ id: number }>(
          app,
          "select id from runs where source_type = 'TOOL' and status = 'running'",
        )
      )[0]?.id
    await expect.poll(running, { timeout: 20_000 }).toBeDefined()
    const id = Number(await running())
    await awaitRun(app, id, run => run.waiting_on === 'tool')
    leaving.abort()
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'cancelled' })
    await expect.poll(() => foldersOf(id), { timeout: 10_000 }).toEqual([])
  })
})

describe('refused, and nothing is created', () => {
  test.each<[unknown, string]>([
    [{ tool_name: 'constructor', arguments: {} }, 'body.tool_name'],
    [{ tool_name: 'write', arguments: { path: 'x', content: 'y' } }, 'body.tool_name'],
    [{ tool_name: 'shell' }, 'body.arguments.command'],
    [
      { tool_name: 'shell', arguments: { command: 'ls', timeout_seconds: 'soon' } },
      'body.arguments.timeout_seconds',
    ],
    [{ tool_name: 'shell', arguments: 'ls' }, 'body.arguments'],
    [{ tool_name: 'read', arguments: { path: '' } }, 'body.arguments.path'],
  ])('%j names %s', async (body, field) => {
    const before = await contents(app)
    expectProblem(await request(body), 400, field)
    expect(await contents(app)).toEqual(before)
  })

  test('422 under wire profile codegen', async () => {
    const { status, body } = await request(
      { tool_name: 'shell', arguments: {} },
      await withProfile(app, 'codegen'),
    )
    expect([status, body.detail[0].loc]).toEqual([422, ['body', 'arguments', 'command']])
  })

  test('403 for a READER and a token without runs:write, 404 for a repository of another organization', async () => {
    const other = await addTenant(app, 'of-tools')
    const [reader, limited] = [
      await addCaller(app, [app.org_id], 'READER'),
      await addCaller(app, [app.org_id], 'MEMBER', { scopes: ['org:read'] }),
    ]
    const before = await contents(app)
    for (const token of [reader, limited])
      expectProblem(await request(shell('id'), app, { authorization: `Bearer ${token}` }), 403)
    expectProblem(await request({ ...shell('id'), repo_id: other.repo_id }), 404)
    expect(await contents(app)).toEqual(before)
  })
})

test('409: a tool call cannot be resumed, paused or forked', async () => {
  const { agent_run_id } = executed(await request(shell('true')))
  for (const [path, body] of [
    ['/agent/run/resume', { agent_run_id, prompt: 'more' }],
    [`/agent/run/${agent_run_id}/resume`, { prompt: 'more' }],
    ['/agent/run/pause', { agent_run_id }],
    ['/agent/run/fork', { agent_run_id, from_seq: 1 }],
  ] as const)
    expect(expectProblem(await app.call('POST', org(path), body), 409).detail).toContain('single tool call')
  expect(await runOf(agent_run_id)).toMatchObject({ status: 'completed', archived: true })
})

test('402 when the runs of the month are used up, because a tool call counts as one', async () => {
  const [used] = await rows<{ n: number }>(
    app,
    `select count(*)::int as n
      from usage_days
      where organization_id = $1 and runs > 0`,
    [app.org_id],
  )
  await app.call('PATCH', org(''), { runs_per_month: used?.n ?? 0 })
  expectProblem(await request(shell('true')), 402)
  await app.call('PATCH', org(''), { runs_per_month: null })
})

test('503 when no worker is running: nothing is created', async () => {
  await using idle = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const before = await contents(idle)
  const reply = await idle.call('POST', `/v1/organizations/${idle.org_id}/tools/execute`, shell('true'))
  expect(expectProblem(reply, 503).detail).toContain('no worker is running')
  expect(reply.headers.get('retry-after')).toBe('5')
  expect(await contents(idle)).toEqual(before)
})

test('503 when no worker was free in time: the run is stopped and nothing is executed', async () => {
  await using busy = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '1',
    AGENTRUN_TOOL_CALL_SECONDS: '1',
    AGENTRUN_INIT_REPO_URL: makeRepository(),
  })
  const { id } = await createRun(busy, { prompt: '```playbook\n- run: sleep 600\n```' })
  await awaitRun(busy, id, run => run.status === 'running')
  const reply = await busy.call('POST', `/v1/organizations/${busy.org_id}/tools/execute`, shell('true'))
  expect(expectProblem(reply, 503).detail).toContain('No worker was free')
  const [call] = await rows(busy, "select status, started_at from runs where source_type = 'TOOL'")
  expect(call).toEqual({ status: 'cancelled', started_at: null })
})

test('429 after thirty in a minute, over all tokens of a user', async () => {
  await using limited = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_LIMIT_TOOL_EXECUTION: '30/60',
  })
  const other = await withProfile(limited, 'codegen')
  const send = (n: number) =>
    (n % 2 ? other : limited).call('POST', `/v1/organizations/${limited.org_id}/tools/execute`, {
      tool_name: 'none',
    })
  const statuses = (await Promise.all(Array.from({ length: 32 }, (_, n) => send(n)))).map(
    ({ status }) => status,
  )
  expect(statuses.filter(status => status === 429)).toHaveLength(2)
})
