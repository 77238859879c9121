import { expect, test } from 'vitest'
import { scopes } from '../../src/contract/endpoint.ts'
import { mcpOperations } from '../../src/contract/mcp/mcp-operations.ts'
import { listedTools } from '../../src/http/mcp/tool-schemas.ts'
import { tools } from '../../src/http/mcp/tool-table.ts'
import { insertOrganization } from '../../src/store/access/organizations.ts'
import { addCaller } from '../api/access/add-caller.ts'
import { addPerson } from '../api/members/people.ts'
import { putRepository } from '../api/repositories/put-repository.ts'
import { createRun } from '../runs/await-run.ts'
import { calls, finish, responses, shell, startCodingApp } from '../runs/coding-app.ts'
import { rows, startApp } from '../start-app.ts'
import { connectClient, message, post } from './connect-client.ts'

/** Arguments with which each tool reaches its check of permissions. */
const required = { agent_run_id: 1, pr_id: 1, prompt: 'x', q: 'x' }
const argumentsOf = (name: string) => {
  const { properties = {} } = listedTools.find(tool => tool.name === name)?.inputSchema ?? { properties: {} }
  return Object.fromEntries(Object.entries(required).filter(([field]) => field in properties))
}

test('a tool needs the scope of its operation, and a token without it is refused with the name of the scope', async () => {
  await using app = await startApp()
  for (const { name, endpoint } of tools.filter(tool => tool.endpoint.scope !== null)) {
    const others = scopes.filter(scope => scope !== endpoint.scope)
    const { token } = await addPerson(app, 'ADMIN', { scopes: others })
    const call = message('tools/call', { name, arguments: argumentsOf(name) })
    const { result } = (await post({ base_url: app.base_url, token }, call)).body
    expect({ name, isError: result.isError, ...JSON.parse(result.content[0].text) }).toMatchObject({
      name,
      isError: true,
      status: 403,
      code: 'forbidden',
      detail: expect.stringContaining(`${endpoint.scope}, which your token`),
    })
  }
})

test('a role limits the tools like the API: a READER reads and starts nothing', async () => {
  await using app = await startApp()
  const { token } = await addPerson(app, 'READER')
  await using mcp = await connectClient({ base_url: app.base_url, token })
  expect((await mcp.succeed('list_agent_runs')).total).toBe(0)
  expect(await mcp.refuse('create_agent_run', { prompt: 'x' })).toMatchObject({
    status: 403,
    detail: expect.stringContaining('your role READER'),
  })
})

test('another organization is refused as if it did not exist, and without org_id one of several must be named', async () => {
  await using app = await startApp()
  const { id: other } = await insertOrganization(app.db, 'Other')
  const { id: second } = await insertOrganization(app.db, 'Second')
  const stranger = await addPerson(app, 'ADMIN', {}, other)
  await using foreign = await connectClient({ base_url: app.base_url, token: stranger.token })
  expect(await foreign.refuse('list_agent_runs', { org_id: app.org_id })).toMatchObject({
    status: 403,
    code: 'forbidden',
  })
  expect(await foreign.refuse('list_agent_runs', { org_id: 999 })).toMatchObject({
    status: 403,
    code: 'forbidden',
  })
  expect((await foreign.succeed('list_agent_runs')).total).toBe(0)

  await using both = await connectClient({
    base_url: app.base_url,
    token: await addCaller(app, [other, second], 'ADMIN'),
  })
  expect(await both.refuse('list_agent_runs')).toMatchObject({
    errors: [
      { loc: ['arguments', 'org_id'], msg: expect.stringContaining(`${other} (Other), ${second} (Second)`) },
    ],
  })
  expect((await both.succeed('list_agent_runs', { org_id: second })).total).toBe(0)
  expect((await both.client.listResources()).resources).toEqual([])

  await using bound = await connectClient({
    base_url: app.base_url,
    token: await addCaller(app, [other, second], 'ADMIN', { bound_to: second }),
  })
  const run = await bound.succeed('create_agent_run', { prompt: 'x', repoless: true })
  expect((await bound.succeed('list_agent_runs')).items).toMatchObject([
    { id: run.id, organization_id: second },
  ])
  expect(await bound.refuse('list_agent_runs', { org_id: other })).toMatchObject({ status: 403 })
})

test('a token that is bound to repositories reaches their runs only', async () => {
  await using app = await startApp()
  const own = await putRepository(app, 'own')
  const other = await putRepository(app, 'other')
  const { token } = await addPerson(app, 'MEMBER', { organization_id: app.org_id, repository_ids: [own] })
  await using mcp = await connectClient({ base_url: app.base_url, token })
  const [hidden, shown] = [
    await createRun(app, { prompt: 'x', repo_id: other }),
    await createRun(app, { prompt: 'x', repo_id: own }),
  ]
  expect((await mcp.succeed('list_agent_runs')).items).toMatchObject([{ id: shown.id }])
  for (const name of ['get_agent_run', 'wait_for_agent_run', 'get_agent_run_logs', 'stop_agent_run'])
    expect(await mcp.refuse(name, { agent_run_id: hidden.id })).toMatchObject({
      status: 404,
      detail: 'Agent run not found.',
    })
  await expect(
    mcp.client.readResource({ uri: `agentrun://organizations/${app.org_id}/runs/${hidden.id}/trace` }),
  ).rejects.toMatchObject({
    data: { status: 404 },
  })
})

test('an idempotency key returns the first run again, also to the API, and refuses another request', async () => {
  await using app = await startCodingApp(responses(finish('Done.')))
  await using mcp = await connectClient(app)
  const call = { prompt: 'Once.', idempotency_key: 'the-key' }
  const [first, second] = await Promise.all([
    mcp.succeed('create_agent_run', call),
    mcp.succeed('create_agent_run', call),
  ])
  expect(second).toEqual(first)
  const { status, headers, body } = await app.call(
    'POST',
    `/v1/organizations/${app.org_id}/agent/run`,
    { prompt: 'Once.' },
    { 'idempotency-key': 'the-key' },
  )
  expect({ status, replayed: headers.get('idempotent-replayed'), body }).toEqual({
    status: 200,
    replayed: 'true',
    body: first,
  })
  expect(await mcp.refuse('create_agent_run', { ...call, prompt: 'Twice.' })).toMatchObject({
    status: 422,
    code: 'idempotency_mismatch',
  })
  expect((await mcp.succeed('list_agent_runs')).total).toBe(1)
})

test('a token of the profile codegen gets the words of the schemas, and its calls are logged in its name', async () => {
  await using app = await startCodingApp(responses(finish('Done.')))
  const person = await addPerson(app, 'MEMBER')
  await rows(app, "update tokens set wire_profile = 'codegen' where id = $1", [person.token_id])
  await using mcp = await connectClient({ base_url: app.base_url, token: person.token })
  const { id, status } = await mcp.succeed('create_agent_run', { prompt: 'Say done.' })
  expect(status).toBe('queued')
  expect(await mcp.succeed('wait_for_agent_run', { agent_run_id: id })).toMatchObject({
    run: { status: 'completed', user_id: person.user_id },
  })
  expect(await mcp.refuse('create_agent_run', {})).toMatchObject({ status: 400, code: 'invalid_request' })
  const called = app.logs.filter(({ message: text }) => text === 'tool call').map(({ fields }) => fields)
  expect(called).toMatchObject([
    { tool: 'create_agent_run', code: 'ok', token_id: person.token_id },
    { tool: 'wait_for_agent_run', code: 'ok' },
    { tool: 'create_agent_run', code: 'invalid_request' },
  ])
})

test('an approval by a tool is in the audit log, in the name of the token', async () => {
  const workflow = 'mkdir -p .github/workflows && echo "on: push" > .github/workflows/ci.yml'
  await using app = await startCodingApp(responses(calls(shell(workflow)), finish('Done.')))
  const person = await addPerson(app, 'ADMIN')
  await using mcp = await connectClient({ base_url: app.base_url, token: person.token })
  const { id } = await mcp.succeed('create_agent_run', { prompt: 'Add a workflow.' })
  expect(await mcp.succeed('wait_for_agent_run', { agent_run_id: id })).toMatchObject({
    reason: 'waiting',
    run: { waiting_on: 'tool_approval' },
  })
  await mcp.succeed('resume_agent_run', { agent_run_id: id, prompt: 'Approved.', approve: true })
  expect(await mcp.succeed('wait_for_agent_run', { agent_run_id: id })).toMatchObject({
    reason: 'ended',
    run: { status: 'completed' },
  })
  const audited = await rows(app, 'select action, user_id, token_id from audit_entries where user_id = $1', [
    person.user_id,
  ])
  expect(audited).toEqual([
    { action: 'run.push_approved', user_id: person.user_id, token_id: person.token_id },
  ])
})

test('a tool call is charged to the limit of its operation, and every other message to the standard one', async () => {
  await using app = await startApp({
    AGENTRUN_LIMIT_AGENT_CREATION: '2/60',
    AGENTRUN_LIMIT_STANDARD: '12/60',
  })
  expect(mcpOperations.callMcp.bucket).toBeNull()
  await using mcp = await connectClient(app)
  for (const _time of [1, 2]) await mcp.refuse('create_agent_run', { prompt: '' })
  const refused = await mcp.refuse('create_agent_run', { prompt: 'x' })
  expect(refused).toMatchObject({
    status: 429,
    code: 'rate_limited',
    retry_after_seconds: expect.any(Number),
  })
  expect(refused.detail).toContain('agent_creation')
  let read = 0
  while (read < 20 && !(await mcp.client.callTool({ name: 'list_agent_runs', arguments: {} })).isError) read++
  expect(read).toBeLessThan(12)
  const over = await post(app, message('tools/list'))
  expect({ status: over.status, code: over.body.code }).toEqual({ status: 429, code: 'rate_limited' })
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)
})

test.each([
  ['tools/call', { name: 'no_such_tool', arguments: {} }],
  ['tools/call', { name: 'list_agent_runs', arguments: { no_such_argument: 1 } }],
  ['tools/call', {}],
  ['resources/read', { uri: 'agentrun://nothing' }],
])('%s %j: what reaches no operation is charged to the standard limit, once', async (method, params) => {
  await using app = await startApp({ AGENTRUN_LIMIT_STANDARD: '4/60' })
  for (const _time of [1, 2, 3])
    expect(JSON.stringify((await post(app, message(method, params))).body)).not.toContain('rate_limited')
  expect((await post(app, message('tools/list'))).status).toBe(200)
  expect((await post(app, message('tools/list'))).status).toBe(429)
})
