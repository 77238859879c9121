import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { awaitEnd, awaitRun } from '../../runs/await-run.ts'
import { startApp } from '../../start-app.ts'
import { putPullRequest } from '../pull-requests/put-pull-request.ts'
import { models } from '../runs/public-models.ts'
import { expectError, expectModel, send, startClients, waits } from './start-clients.ts'
import { type Caller, withProfile } from './with-profile.ts'

// Published clients of the public API, replayed call by call: what they send, and what they read of the
// responses.

const { app, codegen, standard, profiles, org } = await startClients()
const responses = '```playbook\n- answer: It is done.\n```'
/** `datetime.fromisoformat(s.replace("Z", "+00:00"))` of Python 3.10. */
const pythonTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6})?(Z|\+00:00)$/

describe.each(profiles)('(a) the Python SDK with a $profile token', ({ client, complete }) => {
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'OpenAPI-Generator/1.0.0/python',
  }
  const call = (method: string, path: string, body?: unknown) =>
    send(client, { method, path, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })

  test('runs a prompt and refreshes the task until it has ended', async () => {
    const [first] = expectModel('Page_OrganizationResponse_', await call('GET', '/v1/organizations')).items
    const task = expectModel(
      'AgentRunResponse',
      await call('POST', `/v1/organizations/${first?.id}/agent/run`, { prompt: responses }),
    )
    expect(task.web_url).toBe(`${app.base_url}/agent/trace/${task.id}`)
    await awaitEnd(app, task.id)
    const refreshed = expectModel('AgentRunResponse', await call('GET', `${org}/agent/run/${task.id}`))
    expect(refreshed).toMatchObject({ id: task.id, status: complete, result: 'It is done.' })
  })

  test('reads every list that it has models for', async () => {
    expectModel('Page_UserResponse_', await call('GET', `${org}/users`))
    expectModel('UserResponse', await call('GET', `${org}/users/${app.user_id}`))
    expectModel('Page_OrganizationResponse_', await call('GET', '/v1/organizations?skip=0&limit=100'))
  })

  test('recognizes refusals by the status', async () => {
    expectError(await call('GET', `${org}/agent/run/424242`), 404, /^Agent run not found\.$/)
    expectError(await call('GET', `${org}/users/424242`), 404, /^User not found\.$/)
    expectError(
      await call('GET', '/v1/organizations/424242/users'),
      403,
      /^You do not have access to this organization\.$/,
    )
    expectError(
      await send({ ...client, token: 'sk-0' }, { path: '/v1/organizations', headers }),
      401,
      /token/,
    )
    // It sends no token unless the argument `authorization` is set.
    const unsigned = await fetch(`${app.base_url}/v1/users/me`, { headers })
    expect(unsigned.status).toBe(401)
  })
})

describe('(a) the Python SDK, an invalid prompt', () => {
  const refused = (client: Caller) =>
    send(client, {
      method: 'POST',
      path: `${org}/agent/run`,
      headers: { 'content-type': 'application/json' },
      body: '{"prompt":""}',
    })

  test('is the 422 of its model with a codegen token, and a 400 with a standard one', async () => {
    const response = await refused(codegen)
    expect(response.status).toBe(422)
    expect(models.HTTPValidationError.parse(response.body).detail[0]?.loc).toEqual(['body', 'prompt'])
    expect((await refused(standard)).status).toBe(400)
  })
})

describe.each(profiles)(
  '(b) command line and terminal interface with a $profile token',
  ({ client, active, complete }) => {
    const call = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
      send(client, {
        path,
        ...(body === undefined
          ? { headers }
          : {
              method: 'POST',
              body: JSON.stringify(body),
              headers: { 'content-type': 'application/json', ...headers },
            }),
      })

    test('login: the user and the organizations, the first of which is the default', async () => {
      const me = expectModel('UserResponse', await call('/v1/users/me'))
      expect(Object.keys(me)).toEqual(
        expect.arrayContaining(['id', 'email', 'full_name', 'github_username', 'role']),
      )
      const { items } = expectModel('Page_OrganizationResponse_', await call('/v1/organizations'))
      expect(items[0]).toMatchObject({ id: app.org_id, name: expect.any(String) })
    })

    test('agent --prompt, agent --id, agent pull', async () => {
      const body = { prompt: responses, model: 'scripted/playbook', repo_id: app.repo_id }
      const created = expectModel('AgentRunResponse', await call(`${org}/agent/run`, body))
      expect(created.status).toBe(active)
      expect(created.created_at).toMatch(pythonTime)
      await awaitEnd(app, created.id)
      await putPullRequest(app, created.id)
      const shown = expectModel('AgentRunResponse', await call(`${org}/agent/run/${created.id}`))
      expect(shown).toMatchObject({ status: complete, result: 'It is done.', summary: expect.any(String) })
      expect(shown.github_pull_requests).toMatchObject([
        { url: expect.any(String), head_branch_name: expect.stringMatching(/^agent\/run-/) },
      ])
      expectError(await call(`${org}/agent/run/424242`), 404, /./)
      expectError(await call('/v1/organizations/424242/agent/run/1'), 403, /./)
    })

    test('agents list and the list of the terminal interface have the runs of the user, each with the columns of a row', async () => {
      const created = expectModel(
        'AgentRunResponse',
        await call(`${org}/agent/run`, { prompt: waits }, { 'x-codegen-client': 'codegen__claude_code' }),
      )
      const { id } = expectModel('UserResponse', await call('/v1/users/me'))
      for (const query of [`source_type=API&user_id=${id}`, `source_type=API&limit=10&user_id=${id}`]) {
        const { items, total, page } = expectModel(
          'Page_AgentRunResponse_',
          await call(`${org}/agent/runs?${query}`),
        )
        expect(items[0]?.id).toBe(created.id)
        expect(total).toBeGreaterThanOrEqual(items.length)
        expect(page).toBe(1)
        for (const run of items) {
          // It iterates the list and lower-cases the text: null breaks it.
          expect(run.github_pull_requests).toBeInstanceOf(Array)
          expect(run.status).toEqual(expect.any(String))
          expect(run.created_at).toMatch(pythonTime)
          expect([run.source_type, run.web_url]).toEqual(['API', `${app.base_url}/agent/trace/${run.id}`])
        }
      }
    })

    test('repo, integrations list and tools', async () => {
      const { items } = expectModel('Page_RepoResponse_', await call(`${org}/repositories`))
      expect(items.map(repo => repo.id)).toContain(app.repo_id)
      expect(
        expectModel('OrganizationIntegrationsResponse', await call(`${org}/integrations`)),
      ).toMatchObject({
        organization_id: app.org_id,
      })
      const tools = await call(`${org}/tools`)
      expect(tools.body.tools[0]).toMatchObject({
        name: expect.any(String),
        description: expect.any(String),
        parameters: expect.any(Object),
      })
      const executed = await call(`${org}/tools/execute`, {
        tool_name: 'shell',
        arguments: { command: 'echo it works' },
      })
      expect({ status: executed.status, body: executed.body }).toMatchObject({
        status: 200,
        body: {
          success: true,
          error: null,
          tool_name: 'shell',
          execution_time_ms: expect.any(Number),
          result: { output: expect.stringContaining('it works') },
        },
      })
    })

    test('claude: the rules, and a local session with its log and its status as a trace', async () => {
      expectModel('CLIRulesResponse', await call(`${org}/cli/rules`))
      const session_id = randomUUID()
      const { status, body } = await call(`${org}/claude_code/session`, { session_id })
      expect([status, body]).toMatchObject([200, { agent_run_id: expect.any(Number) }])
      const session = `${org}/claude_code/session/${session_id}`
      const report = async (path: string, sent: unknown) =>
        expect((await call(`${session}/${path}`, sent)).status).toBe(200)
      await report('status', { status: 'ACTIVE' })
      await report('log', { log: { type: 'user', message: { role: 'user', content: 'Name the branch.' } } })
      await report('log', {
        log: {
          type: 'assistant',
          message: { role: 'assistant', content: [{ type: 'text', text: 'It is main.' }] },
        },
      })
      await report('status', { status: 'COMPLETE' })
      expect(
        expectModel('AgentRunResponse', await call(`${org}/agent/run/${body.agent_run_id}`)),
      ).toMatchObject({
        status: complete,
        result: 'It is main.',
        summary: 'Name the branch.',
        source_type: 'LOCAL',
      })
    })

    test('errors are printed from detail', async () => {
      const { body } = await call(`${org}/agent/run/424242`)
      expect(body.detail).toBe('Agent run not found.')
    })
  },
)

describe.each(profiles)(
  '(c) the Raycast extension with a $profile token',
  ({ profile, client, active, complete, cancelled, waiting }) => {
    // Content-Type on every request, also without a body.
    const call = (path: string, body?: unknown) =>
      send(client, {
        path,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      })
    const image = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')}`

    test('knows the caller, organizations and users, page by page', async () => {
      for (const path of ['/v1/users/me', '/v1/alpha/user/me']) expectModel('UserResponse', await call(path))
      const organizations = expectModel(
        'Page_OrganizationResponse_',
        await call('/v1/organizations?page=1&size=50'),
      )
      expect(organizations).toMatchObject({ page: 1, size: 50, pages: 1 })
      expect(organizations.items[0]?.settings).toMatchObject({ enable_pr_creation: true })
      expect(expectModel('Page_UserResponse_', await call(`${org}/users?page=1&size=50`))).toMatchObject({
        page: 1,
        size: 50,
      })
      expect(expectModel('Page_UserResponse_', await call(`${org}/users?page=2&size=50`)).items).toEqual([])
      expectModel('UserResponse', await call(`${org}/users/${app.user_id}`))
    })

    test('creates, polls, answers a question over /v1/beta and gets the result', async () => {
      const created = expectModel(
        'AgentRunResponse',
        await call(`${org}/agent/run`, { prompt: waits, images: [image] }),
      )
      expect(created.status).toBe(active)
      expect(Number.isNaN(new Date(created.created_at ?? '').getTime())).toBe(false)
      await awaitRun(app, created.id, run => run.status === 'waiting')
      expect((await call(`${org}/agent/run/${created.id}`)).body.status).toBe(waiting)
      const resumed = await call(`/v1/beta/organizations/${app.org_id}/agent/run/resume`, {
        agent_run_id: created.id,
        prompt: 'That one.',
      })
      expectModel('AgentRunResponse', resumed)
      await awaitEnd(app, created.id)
      expect(expectModel('AgentRunResponse', await call(`${org}/agent/run/${created.id}`))).toMatchObject({
        status: complete,
        result: 'That one.',
      })
    })

    test('stops over /v1/beta', async () => {
      const { id } = expectModel('AgentRunResponse', await call(`${org}/agent/run`, { prompt: waits }))
      await awaitRun(app, id, run => run.status === 'waiting')
      const stopped = expectModel(
        'AgentRunResponse',
        await call(`/v1/beta/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id }),
      )
      expect(stopped.status).toBe(cancelled)
    })

    test('distinguishes 401 and 403, and shows the message of everything else', async () => {
      expect(
        (await send({ ...client, token: 'nobody-ever-made-this-one' }, { path: '/v1/users/me' })).status,
      ).toBe(401)
      expect((await call('/v1/organizations/424242/users?page=1&size=50')).status).toBe(403)
      const { status, body } = await call(`${org}/agent/run`, { prompt: 'x', repo_id: 'x' })
      expect([status, body.message]).toEqual([
        profile === 'codegen' ? 422 : 400,
        expect.stringContaining('repo_id'),
      ])
    })
  },
)

test('a limit is reported with the seconds to wait, which clients honour', async () => {
  await using limited = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_LIMIT_STANDARD: '2/60' })
  const client = await withProfile(limited, 'codegen')
  const get = () => send(client, { path: '/v1/users/me' })
  for (const wanted of [200, 200]) expect((await get()).status).toBe(wanted)
  const refused = await get()
  expectError(refused, 429, /^Rate limit exceeded/)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
})
