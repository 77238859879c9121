import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { append } from '../../src/store/append.ts'
import { entry } from '../../src/trace/entry.ts'
import { awaitEnd, awaitRun } from '../runs/await-run.ts'
import { type Answer, type App, startApp } from '../start-app.ts'
import { models } from './public-models.ts'
import { putPullRequest } from './put-pull-request.ts'
import { putRun } from './put-run.ts'
import { addOrganization } from './second-organization.ts'
import { type Caller, withProfile } from './with-profile.ts'

// Published clients of the public API, played call for call: what they send, and what of the answers they read.

let app: App
let codegen: Caller
let standard: Caller
let org: string
beforeAll(async () => {
  app = await startApp()
  codegen = await withProfile(app, 'codegen')
  standard = await withProfile(app, 'standard')
  org = `/v1/organizations/${app.org_id}`
})
afterAll(() => app[Symbol.asyncDispose]())

type Model = keyof typeof models
/** A 200 that is JSON and what the public document calls it. */
function expectModel<M extends Model>(model: M, { status, headers, body }: Answer): z.output<(typeof models)[M]> {
  expect({ status, body }).toMatchObject({ status: 200 })
  expect(headers.get('content-type')).toMatch(/^application\/json\s*(;|$)/)
  return models[model].parse(body) as z.output<(typeof models)[M]>
}
/** An error as every client can read it, and how generated ones recognise its type. */
function expectError({ status, headers, body }: Answer, wanted: number, message: string | RegExp) {
  expect({ status, body }).toMatchObject({ status: wanted })
  expect(headers.get('content-type')).toMatch(/^application\/(json|[\w!#$&.+\-^_]+\+json)\s*(;|$)/i)
  const error = models.ErrorResponse.parse(body)
  expect(error).toMatchObject({ message: expect.stringMatching(message), status_code: wanted, detail: error.message })
}
const answers = '```playbook\n- answer: It is done.\n```'
const waits = '```playbook\n- ask: Which one?\n- answer: That one.\n```'
/** `datetime.fromisoformat(s.replace("Z", "+00:00"))` of Python 3.10. */
const pythonTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6})?(Z|\+00:00)$/

type Request = { method?: string; path: string; headers?: Record<string, string>; body?: string | FormData }
async function send(client: Caller, { method = 'GET', path, headers = {}, body }: Request): Promise<Answer> {
  const response = await fetch(client.base_url + path, {
    method,
    headers: { authorization: `Bearer ${client.token}`, ...headers },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const profiles = [
  { profile: 'codegen', client: () => codegen, active: 'ACTIVE', complete: 'COMPLETE', cancelled: 'CANCELLED', asking: 'PAUSED' },
  { profile: 'standard', client: () => standard, active: 'queued', complete: 'completed', cancelled: 'cancelled', asking: 'waiting' },
] as const

describe.each(profiles)('(a) the Python SDK with a $profile token', ({ client, complete }) => {
  const headers = { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'OpenAPI-Generator/1.0.0/python' }
  const call = (method: string, path: string, body?: unknown) =>
    send(client(), { method, path, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })

  test('runs a prompt and refreshes the task until it has ended', async () => {
    const [first] = expectModel('Page_OrganizationResponse_', await call('GET', '/v1/organizations')).items
    const task = expectModel('AgentRunResponse', await call('POST', `/v1/organizations/${first?.id}/agent/run`, { prompt: answers }))
    expect(task.web_url).toBe(`${app.base_url}/agent/trace/${task.id}`)
    await awaitEnd(app, task.id)
    const refreshed = expectModel('AgentRunResponse', await call('GET', `${org}/agent/run/${task.id}`))
    expect(refreshed).toMatchObject({ id: task.id, status: complete, result: 'It is done.' })
  })

  test('reads every list that its models are for', async () => {
    expectModel('Page_UserResponse_', await call('GET', `${org}/users`))
    expectModel('UserResponse', await call('GET', `${org}/users/${app.user_id}`))
    expectModel('Page_OrganizationResponse_', await call('GET', '/v1/organizations?skip=0&limit=100'))
  })

  test('knows what was refused by the status', async () => {
    expectError(await call('GET', `${org}/agent/run/424242`), 404, /^Agent run not found\.$/)
    expectError(await call('GET', `${org}/users/424242`), 404, /^User not found\.$/)
    expectError(await call('GET', '/v1/organizations/424242/users'), 403, /^You do not have access to this organization\.$/)
    expectError(await send({ ...client(), token: 'sk-0' }, { path: '/v1/organizations', headers }), 401, /token/)
    // It sends no token unless it is told to by the argument `authorization`.
    const unsigned = await fetch(`${app.base_url}/v1/users/me`, { headers })
    expect(unsigned.status).toBe(401)
  })
})

describe('(a) the Python SDK, a prompt that is none', () => {
  const refused = (client: Caller) =>
    send(client, { method: 'POST', path: `${org}/agent/run`, headers: { 'content-type': 'application/json' }, body: '{"prompt":""}' })

  test('is the 422 of its model with a codegen token, and a 400 with a standard one', async () => {
    const answer = await refused(codegen)
    expect(answer.status).toBe(422)
    expect(models.HTTPValidationError.parse(answer.body).detail[0]?.loc).toEqual(['body', 'prompt'])
    expect((await refused(standard)).status).toBe(400)
  })
})

describe.each(profiles)('(b) command line and terminal interface with a $profile token', ({ client, active, complete }) => {
  const call = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    send(client(), {
      path,
      ...(body === undefined
        ? { headers }
        : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }),
    })

  test('login: who I am and my organizations, the first of which is the default', async () => {
    const me = expectModel('UserResponse', await call('/v1/users/me'))
    expect(Object.keys(me)).toEqual(expect.arrayContaining(['id', 'email', 'full_name', 'github_username', 'role']))
    const { items } = expectModel('Page_OrganizationResponse_', await call('/v1/organizations'))
    expect(items[0]).toMatchObject({ id: app.org_id, name: expect.any(String) })
  })

  test('agent --prompt, agent --id, agent pull', async () => {
    const body = { prompt: answers, model: 'scripted/playbook', repo_id: app.repo_id }
    const made = expectModel('AgentRunResponse', await call(`${org}/agent/run`, body))
    expect(made.status).toBe(active)
    expect(made.created_at).toMatch(pythonTime)
    await awaitEnd(app, made.id)
    await putPullRequest(app, made.id)
    const shown = expectModel('AgentRunResponse', await call(`${org}/agent/run/${made.id}`))
    expect(shown).toMatchObject({ status: complete, result: 'It is done.', summary: expect.any(String) })
    expect(shown.github_pull_requests).toMatchObject([{ url: expect.any(String), head_branch_name: expect.stringMatching(/^agent\/run-/) }])
    expectError(await call(`${org}/agent/run/424242`), 404, /./)
    expectError(await call('/v1/organizations/424242/agent/run/1'), 403, /./)
  })

  test('agents list and the list of the terminal interface hold my runs, each with what a row shows', async () => {
    const made = expectModel(
      'AgentRunResponse',
      await call(`${org}/agent/run`, { prompt: waits }, { 'x-codegen-client': 'codegen__claude_code' }),
    )
    const { id } = expectModel('UserResponse', await call('/v1/users/me'))
    for (const query of [`source_type=API&user_id=${id}`, `source_type=API&limit=10&user_id=${id}`]) {
      const { items, total, page } = expectModel('Page_AgentRunResponse_', await call(`${org}/agent/runs?${query}`))
      expect(items[0]?.id).toBe(made.id)
      expect(total).toBeGreaterThanOrEqual(items.length)
      expect(page).toBe(1)
      for (const run of items) {
        // It iterates the list and lowers the text: null breaks it.
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
    expect(expectModel('OrganizationIntegrationsResponse', await call(`${org}/integrations`))).toMatchObject({
      organization_id: app.org_id,
    })
    const tools = await call(`${org}/tools`)
    expect(tools.body.tools[0]).toMatchObject({ name: expect.any(String), description: expect.any(String), parameters: expect.any(Object) })
    expectError(await call(`${org}/tools/execute`, { tool_name: 'shell', arguments: { command: 'id' } }), 501, /./)
  })

  test('claude: the rules, and a session that is no run here and only warned of', async () => {
    expectModel('CLIRulesResponse', await call(`${org}/cli/rules`))
    expect((await call(`${org}/claude_code/session`, { session_id: 'x' })).status).toBe(404)
  })

  test('errors are printed from detail', async () => {
    const { body } = await call(`${org}/agent/run/424242`)
    expect(body.detail).toBe('Agent run not found.')
  })
})

describe.each(profiles)('(c) the Raycast extension with a $profile token', ({ profile, client, active, complete, cancelled, asking }) => {
  // Content-Type on every request, those without a body too.
  const call = (path: string, body?: unknown) =>
    send(client(), {
      path,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
  const image = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')}`

  test('knows the caller, organizations and users, page by page', async () => {
    for (const path of ['/v1/users/me', '/v1/alpha/user/me']) expectModel('UserResponse', await call(path))
    const organizations = expectModel('Page_OrganizationResponse_', await call('/v1/organizations?page=1&size=50'))
    expect(organizations).toMatchObject({ page: 1, size: 50, pages: 1 })
    expect(organizations.items[0]?.settings).toMatchObject({ enable_pr_creation: true })
    expect(expectModel('Page_UserResponse_', await call(`${org}/users?page=1&size=50`))).toMatchObject({ page: 1, size: 50 })
    expect(expectModel('Page_UserResponse_', await call(`${org}/users?page=2&size=50`)).items).toEqual([])
    expectModel('UserResponse', await call(`${org}/users/${app.user_id}`))
  })

  test('creates, polls, answers a question over /v1/beta and is told the end', async () => {
    const made = expectModel('AgentRunResponse', await call(`${org}/agent/run`, { prompt: waits, images: [image] }))
    expect(made.status).toBe(active)
    expect(Number.isNaN(new Date(made.created_at ?? '').getTime())).toBe(false)
    await waitFor(made.id, run => run.status === 'waiting')
    expect((await call(`${org}/agent/run/${made.id}`)).body.status).toBe(asking)
    const resumed = await call(`/v1/beta/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: made.id, prompt: 'That one.' })
    expectModel('AgentRunResponse', resumed)
    await awaitEnd(app, made.id)
    expect(expectModel('AgentRunResponse', await call(`${org}/agent/run/${made.id}`))).toMatchObject({
      status: complete,
      result: 'That one.',
    })
  })

  test('stops over /v1/beta', async () => {
    const { id } = expectModel('AgentRunResponse', await call(`${org}/agent/run`, { prompt: waits }))
    await waitFor(id, run => run.status === 'waiting')
    const stopped = expectModel('AgentRunResponse', await call(`/v1/beta/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id }))
    expect(stopped.status).toBe(cancelled)
  })

  test('tells apart 401 and 403, and shows the message of everything else', async () => {
    expect((await send({ ...client(), token: 'nobody-ever-made-this-one' }, { path: '/v1/users/me' })).status).toBe(401)
    expect((await call('/v1/organizations/424242/users?page=1&size=50')).status).toBe(403)
    const { status, body } = await call(`${org}/agent/run`, { prompt: 'x', repo_id: 'x' })
    expect([status, body.message]).toEqual([profile === 'codegen' ? 422 : 400, expect.stringContaining('repo_id')])
  })
})

const waitFor = (id: number, fits: (run: { status: string }) => boolean) => awaitRun(app, id, fits)

/** The names by which its strict models know a status. */
const zappStatuses = [
  ...['ACTIVE', 'ERROR', 'EVALUATION', 'COMPLETE', 'CANCELLED', 'TIMEOUT', 'MAX_ITERATIONS_REACHED', 'OUT_OF_TOKENS', 'FAILED'],
  ...['PAUSED', 'PENDING'],
]

describe.each(profiles)('(d) other clients with a $profile token', ({ profile, client, active, cancelled }) => {
  const get = (path: string, headers: Record<string, string> = {}) => send(client(), { path, headers })
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(client(), { method: 'POST', path, body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } })
  const made = async (body: Record<string, unknown> = {}) =>
    expectModel('AgentRunResponse', await post(`${org}/agent/run`, { prompt: waits, ...body }))

  describe('a bridge in Python', () => {
    const id = { 'x-request-id': '0123456789ab' }

    test('lists, reads and stops with the parameters that it sends always', async () => {
      const run = await made({ metadata: { source: 'bridge' } })
      expect(run.metadata).toEqual({ source: 'bridge' })
      expectModel('Page_AgentRunResponse_', await get(`${org}/agent/runs?skip=0&limit=10`, id))
      const logs = await get(`/v1/alpha/organizations/${app.org_id}/agent/run/${run.id}/logs?skip=0&limit=50&reverse=true`, id)
      expect(expectModel('AgentRunWithLogsResponse', logs).logs.at(-1)).toMatchObject({ message_type: 'USER_MESSAGE' })
      expectModel('Page_UserResponse_', await get(`${org}/users?skip=0&limit=100`))
      expectModel('Page_RepoResponse_', await get(`${org}/repos?skip=0&limit=50`))
      expectModel('Page_OrganizationResponse_', await get('/v1/organizations'))
      expectModel('OrganizationSettings', await get(`${org}/settings`))
      expectModel('ModelsResponse', await get(`${org}/models`))
    })

    test('asks for connections without any body or type, and is told honestly that there are none yet', async () => {
      const bare = (path: string) => send(client(), { method: 'POST', path, headers: id })
      const lists = ['/v1/mcp-providers', `/v1/oauth/tokens/status?org_id=${app.org_id}`]
      for (const path of lists) expect((await get(path, id)).body).toEqual([])
      expectError(await bare(`/v1/oauth/tokens/revoke?provider=linear&org_id=${app.org_id}`), 404, /./)
      expectError(await bare(`${org}/sandbox/424242/analyze-logs`), 404, /Sandbox not found/)
      expectError(await post('/v1/slack-connect/generate-token', { org_id: app.org_id }), 501, /./)
      const asked = { repo_id: app.repo_id, trigger_source: 'setup-commands' }
      expectModel('SetupCommandsResponse', await post(`${org}/setup-commands/generate`, asked))
      expectError(await post(`${org}/setup-commands/generate`, { repo_id: 424242 }), 404, /^Repository not found/)
    })

    test('bans instead of stopping, lifts the ban, and leaves the pull request', async () => {
      const run = await made()
      await waitFor(run.id, ({ status }) => status === 'waiting')
      const banned = await post(`${org}/agent/run/ban`, { agent_run_id: run.id })
      expectModel('BanActionResponse', banned)
      expect(expectModel('AgentRunResponse', banned).status).toBe(cancelled)
      const cards = { agent_run_id: run.id, before_card_order_id: '0|a', after_card_order_id: null }
      expectModel('BanActionResponse', await post(`${org}/agent/run/unban`, cards))
      expectModel('BanActionResponse', await post(`${org}/agent/run/remove-from-pr`, cards))
    })

    test('sets, reads and forgets where runs are reported', async () => {
      const path = `${org}/webhooks/agent-run`
      const set = await post(path, { url: 'https://example.org/hook', secret: 'shared', enabled: true })
      expect([set.status, typeof set.body]).toEqual([200, 'object'])
      const read = expectModel('WebhookConfigResponse', await get(path))
      expect(read).toMatchObject({ url: 'https://example.org/hook', enabled: true, has_secret: true })
      expect(await post(`${path}/test`, { url: 'https://hooks.invalid/' })).toMatchObject({ status: 200, body: { delivered: false } })
      expect((await send(client(), { method: 'DELETE', path, headers: id })).status).toBe(200)
      expect(expectModel('WebhookConfigResponse', await get(path))).toMatchObject({ url: null, has_secret: false })
      const private_address = await post(path, { url: 'http://169.254.169.254/' })
      expect(private_address.status).toBe(profile === 'codegen' ? 422 : 400)
    })

    test('reads the rules for coding agents, and reads and writes how failing checks are treated', async () => {
      expectModel('CLIRulesResponse', await get(`${org}/cli/rules`))
      const path = `${org}/repos/check-suite-settings?repo_id=${app.repo_id}`
      const settings = {
        check_retry_count: 2,
        ignored_checks: ['lint'],
        check_retry_counts: { build: 1 },
        custom_prompts: { build: 'Be quick.' },
      }
      const written = await send(client(), {
        method: 'PUT',
        path,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(settings),
      })
      expect([written.status, typeof written.body]).toEqual([200, 'object'])
      expect(expectModel('CheckSuiteSettingsResponse', await get(path))).toMatchObject(settings)
    })

    test('edits the state of a pull request by either path, and reads in the answer that there is none', async () => {
      const pr_id = await putPullRequest(app, (await made()).id)
      const edit = (path: string, state: string) =>
        send(client(), { method: 'PATCH', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ state }) })
      const closed = expectModel('EditPRResponse', await edit(`${org}/repos/${app.repo_id}/prs/${pr_id}`, 'closed'))
      expect(closed).toMatchObject({ success: true, state: 'closed', number: expect.any(Number) })
      expect(expectModel('EditPRResponse', await edit(`${org}/prs/${pr_id}`, 'open'))).toMatchObject({ success: true, state: 'open' })
      const missing = expectModel('EditPRResponse', await edit(`${org}/prs/424242`, 'closed'))
      expect(missing).toMatchObject({ success: false, error: expect.any(String) })
    })

    test('names the agent claude_code in every create', async () => {
      const answer = await post(`${org}/agent/run`, { prompt: waits, agent_type: 'claude_code' })
      if (profile === 'standard') return expect(answer.status).toBe(400)
      expect(expectModel('AgentRunResponse', answer).agent_type).toBe('built_in')
    })

    test('takes the first text of detail, error and message for the words of an error, of a list the message', async () => {
      const words = ({ body }: Answer) => [body.detail, body.error, body.message].find(value => typeof value === 'string')
      expect(words(await get(`${org}/agent/run/424242`))).toBe('Agent run not found.')
      const invalid = await post(`${org}/agent/run`, {})
      expect([invalid.status, words(invalid)]).toEqual([profile === 'codegen' ? 422 : 400, expect.stringContaining('prompt')])
    })
  })

  test('a dashboard: pages of runs by status, unknown keys in a create, a resume by path with an instruction', async () => {
    const run = await made({ context: { anything: [1] }, temperature: 0.5 })
    await waitFor(run.id, ({ status }) => status === 'waiting')
    const path = profile === 'codegen' ? 'status=PAUSED' : 'status=waiting'
    const listed = expectModel('Page_AgentRunResponse_', await get(`${org}/agent/runs?page=1&size=20&${path}`))
    expect(listed.items.map(item => item.id)).toContain(run.id)
    if (profile === 'codegen') for (const item of listed.items) expect(zappStatuses).toContain(item.status)
    const empty = await get(`${org}/agent/runs?page=1&size=20&status=FAILED`)
    if (profile === 'codegen') expect(expectModel('Page_AgentRunResponse_', empty).items).toEqual([])
    expectModel('AgentRunWithLogsResponse', await get(`${org}/agent/run/${run.id}/logs?skip=0&limit=100`))
    expectModel('AgentRunResponse', await post(`${org}/agent/run/${run.id}/resume`, { instruction: 'That one.' }))
    await awaitEnd(app, run.id)
  })

  describe('a forge', () => {
    test('creates for a repository, reads the run, and goes on by path with a prompt', async () => {
      expectModel('UserResponse', await get('/v1/user'))
      expectModel('RepoResponse', await get(`${org}/repositories/${app.repo_id}`))
      const run = await made({ repo_id: app.repo_id, agent_type: 'codegen' })
      expect(run.repo_id).toBe(app.repo_id)
      await waitFor(run.id, ({ status }) => status === 'waiting')
      expectModel('AgentRunResponse', await post(`${org}/agent/run/${run.id}/resume`, { prompt: 'That one.' }))
      await awaitEnd(app, run.id)
    })

    test('is told what to send when it sends a form with a picture', async () => {
      const form = new FormData()
      form.set('prompt', 'x')
      form.set('image', new Blob([Buffer.from('89504e47', 'hex')], { type: 'image/png' }), 'a.png')
      const answer = await send(client(), { method: 'POST', path: `${org}/agent/run`, body: form })
      expectError(answer, 415, /images as data URIs in `images`/)
    })
  })

  test('a test of a whole life: ids, and pages of a hundred logs until a short one', async () => {
    const run = await made({ metadata: { test: 'lifecycle' } })
    await putRun(app, run.id, 'completed')
    const entries = Array.from({ length: 250 }, (_item, n) => entry({ message_type: 'ERROR', observation: { code: 'x', message: `${n}` } }))
    await append(app.db, app.org_id, run.id, null, { entries })
    const seen: unknown[] = []
    for (let skip = 0; ; skip += 100) {
      const answer = await get(`/v1/alpha/organizations/${app.org_id}/agent/run/${run.id}/logs?skip=${skip}&limit=100`)
      const page = expectModel('AgentRunWithLogsResponse', answer)
      expect(page).toMatchObject({ id: run.id, organization_id: app.org_id, page: skip / 100 + 1, size: 100 })
      expect(page.pages).toBe(Math.ceil((page.total_logs ?? 0) / 100))
      seen.push(...page.logs)
      if (page.logs.length < 100) break
    }
    expect(seen.length).toBeGreaterThanOrEqual(251)
    expectModel('AgentRunWithLogsResponse', await get(`${org}/agent/run/${run.id}/logs?skip=0&limit=1`))
  })

  test('health checks: the organization, and one run', async () => {
    expectModel('OrganizationResponse', await get(org))
    expect(expectModel('Page_AgentRunResponse_', await get(`${org}/agent/runs?limit=1`)).items.length).toBeLessThanOrEqual(1)
  })

  test('scripts that poll a path that never was post the message of its 404', async () => {
    for (const path of ['/v1/agent/trace/1', `${org}/agent/trace/1`]) {
      const { status, body } = await get(path)
      expect([status, typeof body.message]).toEqual([404, 'string'])
    }
    expect((await made()).status).toBe(active)
  })

  test('an organization without repositories is told to add some', async () => {
    const empty = await addOrganization(app, `empty-${profile}`)
    const caller = { ...client(), token: empty.token }
    const path = `/v1/organizations/${empty.org_id}/agent/run`
    const answer = await send(caller, { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: '{"prompt":"x"}' })
    expectError(answer, 404, /^No repos found in the organization\. Please add some repos and try again\.$/)
  })
})

test('a limit is told with the seconds to wait, which clients honour', async () => {
  await using limited = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_LIMIT_STANDARD: '2/60' })
  const client = await withProfile(limited, 'codegen')
  const get = () => send(client, { path: '/v1/users/me' })
  for (const wanted of [200, 200]) expect((await get()).status).toBe(wanted)
  const refused = await get()
  expectError(refused, 429, /^Rate limit exceeded/)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
})
