import { describe, expect, test } from 'vitest'
import { append } from '../../../src/store/runs/append.ts'
import { entry } from '../../../src/trace/entry.ts'
import { runText } from '../../git/repositories.ts'
import { awaitEnd, awaitRun } from '../../runs/await-run.ts'
import { type ApiResponse, rows } from '../../start-app.ts'
import { addOrganization } from '../access/second-organization.ts'
import { putPullRequest } from '../pull-requests/put-pull-request.ts'
import { putRun } from '../runs/put-run.ts'
import { expectError, expectModel, send, startClients, waits } from './start-clients.ts'

// Smaller clients of the public API, replayed call by call, like the published ones in
// existing-clients.long.test.ts.

const { app, profiles, org } = await startClients()

/** The status names that its strict models accept. */
const zappStatuses = [
  ...[
    'ACTIVE',
    'ERROR',
    'EVALUATION',
    'COMPLETE',
    'CANCELLED',
    'TIMEOUT',
    'MAX_ITERATIONS_REACHED',
    'OUT_OF_TOKENS',
    'FAILED',
  ],
  ...['PAUSED', 'PENDING'],
]

describe.each(profiles)(
  '(d) other clients with a $profile token',
  ({ profile, client, active, cancelled }) => {
    const get = (path: string, headers: Record<string, string> = {}) => send(client, { path, headers })
    const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      send(client, {
        method: 'POST',
        path,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      })
    const created = async (body: Record<string, unknown> = {}) =>
      expectModel('AgentRunResponse', await post(`${org}/agent/run`, { prompt: waits, ...body }))

    describe('a bridge in Python', () => {
      const id = { 'x-request-id': '0123456789ab' }

      test('lists, reads and stops with its usual parameters', async () => {
        const run = await created({ metadata: { source: 'bridge' } })
        expect(run.metadata).toEqual({ source: 'bridge' })
        expectModel('Page_AgentRunResponse_', await get(`${org}/agent/runs?skip=0&limit=10`, id))
        const logs = await get(
          `/v1/alpha/organizations/${app.org_id}/agent/run/${run.id}/logs?skip=0&limit=50&reverse=true`,
          id,
        )
        expect(expectModel('AgentRunWithLogsResponse', logs).logs.at(-1)).toMatchObject({
          message_type: 'USER_MESSAGE',
        })
        expectModel('Page_UserResponse_', await get(`${org}/users?skip=0&limit=100`))
        expectModel('Page_RepoResponse_', await get(`${org}/repos?skip=0&limit=50`))
        expectModel('Page_OrganizationResponse_', await get('/v1/organizations'))
        expectModel('OrganizationSettings', await get(`${org}/settings`))
        expectModel('ModelsResponse', await get(`${org}/models`))
      })

      test('lists connections without body or content type, and gets an empty list', async () => {
        const bare = (path: string) => send(client, { method: 'POST', path, headers: id })
        const lists = ['/v1/mcp-providers', `/v1/oauth/tokens/status?org_id=${app.org_id}`]
        for (const path of lists) expect((await get(path, id)).body).toEqual([])
        expectError(await bare(`/v1/oauth/tokens/revoke?provider=linear&org_id=${app.org_id}`), 404, /./)
        expectError(await bare(`${org}/sandbox/424242/analyze-logs`), 404, /Sandbox not found/)
        expectError(await post('/v1/slack-connect/generate-token', { org_id: app.org_id }), 501, /./)
        const requested = { repo_id: app.repo_id, trigger_source: 'setup-commands' }
        expectModel('SetupCommandsResponse', await post(`${org}/setup-commands/generate`, requested))
        expectError(
          await post(`${org}/setup-commands/generate`, { repo_id: 424242 }),
          404,
          /^Repository not found/,
        )
      })

      test('bans instead of stopping, lifts the ban, and leaves the pull request', async () => {
        const run = await created()
        await awaitRun(app, run.id, ({ status }) => status === 'waiting')
        const banned = await post(`${org}/agent/run/ban`, { agent_run_id: run.id })
        expectModel('BanActionResponse', banned)
        expect(expectModel('AgentRunResponse', banned).status).toBe(cancelled)
        const cards = { agent_run_id: run.id, before_card_order_id: '0|a', after_card_order_id: null }
        expectModel('BanActionResponse', await post(`${org}/agent/run/unban`, cards))
        expectModel('BanActionResponse', await post(`${org}/agent/run/remove-from-pr`, cards))
      })

      test('sets, reads and deletes the webhook of runs', async () => {
        const path = `${org}/webhooks/agent-run`
        const set = await post(path, { url: 'https://example.org/hook', secret: 'shared', enabled: true })
        expect([set.status, typeof set.body]).toEqual([200, 'object'])
        const read = expectModel('WebhookConfigResponse', await get(path))
        expect(read).toMatchObject({ url: 'https://example.org/hook', enabled: true, has_secret: true })
        expect(await post(`${path}/test`, { url: 'https://hooks.invalid/' })).toMatchObject({
          status: 200,
          body: { delivered: false },
        })
        expect((await send(client, { method: 'DELETE', path, headers: id })).status).toBe(200)
        expect(expectModel('WebhookConfigResponse', await get(path))).toMatchObject({
          url: null,
          has_secret: false,
        })
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
        const written = await send(client, {
          method: 'PUT',
          path,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(settings),
        })
        expect([written.status, typeof written.body]).toEqual([200, 'object'])
        expect(expectModel('CheckSuiteSettingsResponse', await get(path))).toMatchObject(settings)
      })

      test('edits the state of a pull request by either path, and reads in the response that it does not exist', async () => {
        const run_id = (await created()).id
        const pr_id = await putPullRequest(app, run_id)
        // A pull request can be reopened only while its branch exists.
        const [repo] = await rows<{ url: string }>(app, 'select url from repositories where id = $1', [
          app.repo_id,
        ])
        const tip = await runText(repo?.url ?? '', 'git', [
          'commit-tree',
          '-p',
          'main',
          '-m',
          'x',
          'main^{tree}',
        ])
        await runText(repo?.url ?? '', 'git', ['update-ref', `refs/heads/agent/run-${run_id}-x`, tip])
        const edit = (path: string, state: string) =>
          send(client, {
            method: 'PATCH',
            path,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ state }),
          })
        const closed = expectModel(
          'EditPRResponse',
          await edit(`${org}/repos/${app.repo_id}/prs/${pr_id}`, 'closed'),
        )
        expect(closed).toMatchObject({ success: true, state: 'closed', number: expect.any(Number) })
        expect(expectModel('EditPRResponse', await edit(`${org}/prs/${pr_id}`, 'open'))).toMatchObject({
          success: true,
          state: 'open',
        })
        const missing = expectModel('EditPRResponse', await edit(`${org}/prs/424242`, 'closed'))
        expect(missing).toMatchObject({ success: false, error: expect.any(String) })
      })

      test('names the agent claude_code in every create', async () => {
        const response = await post(`${org}/agent/run`, { prompt: waits, agent_type: 'claude_code' })
        if (profile === 'standard') return expect(response.status).toBe(400)
        expect(expectModel('AgentRunResponse', response).agent_type).toBe('built_in')
      })

      test('uses the first text of detail, error and message as the error message, of a list the message of its items', async () => {
        const words = ({ body }: ApiResponse) =>
          [body.detail, body.error, body.message].find(value => typeof value === 'string')
        expect(words(await get(`${org}/agent/run/424242`))).toBe('Agent run not found.')
        const invalid = await post(`${org}/agent/run`, {})
        expect([invalid.status, words(invalid)]).toEqual([
          profile === 'codegen' ? 422 : 400,
          expect.stringContaining('prompt'),
        ])
      })
    })

    test('a dashboard: pages of runs by status, unknown keys in a create, a resume by path with an instruction', async () => {
      const run = await created({ context: { anything: [1] }, temperature: 0.5 })
      await awaitRun(app, run.id, ({ status }) => status === 'waiting')
      const path = profile === 'codegen' ? 'status=PAUSED' : 'status=waiting'
      const listed = expectModel(
        'Page_AgentRunResponse_',
        await get(`${org}/agent/runs?page=1&size=20&${path}`),
      )
      expect(listed.items.map(item => item.id)).toContain(run.id)
      if (profile === 'codegen') for (const item of listed.items) expect(zappStatuses).toContain(item.status)
      const empty = await get(`${org}/agent/runs?page=1&size=20&status=FAILED`)
      if (profile === 'codegen') expect(expectModel('Page_AgentRunResponse_', empty).items).toEqual([])
      expectModel('AgentRunWithLogsResponse', await get(`${org}/agent/run/${run.id}/logs?skip=0&limit=100`))
      expectModel(
        'AgentRunResponse',
        await post(`${org}/agent/run/${run.id}/resume`, { instruction: 'That one.' }),
      )
      await awaitEnd(app, run.id)
    })

    describe('a forge', () => {
      test('creates for a repository, reads the run, and continues by path with a prompt', async () => {
        expectModel('UserResponse', await get('/v1/user'))
        expectModel('RepoResponse', await get(`${org}/repositories/${app.repo_id}`))
        const run = await created({ repo_id: app.repo_id, agent_type: 'codegen' })
        expect(run.repo_id).toBe(app.repo_id)
        await awaitRun(app, run.id, ({ status }) => status === 'waiting')
        expectModel(
          'AgentRunResponse',
          await post(`${org}/agent/run/${run.id}/resume`, { prompt: 'That one.' }),
        )
        await awaitEnd(app, run.id)
      })

      test('a form with a picture is rejected with the format to send instead', async () => {
        const form = new FormData()
        form.set('prompt', 'x')
        form.set('image', new Blob([Buffer.from('89504e47', 'hex')], { type: 'image/png' }), 'a.png')
        const response = await send(client, { method: 'POST', path: `${org}/agent/run`, body: form })
        expectError(response, 415, /images as data URIs in `images`/)
      })
    })

    test('a test of the whole life of a run: ids, and pages of a hundred logs until a short one', async () => {
      const run = await created({ metadata: { test: 'lifecycle' } })
      await putRun(app, run.id, 'completed')
      const entries = Array.from({ length: 250 }, (_item, n) =>
        entry({ message_type: 'ERROR', observation: { code: 'x', message: `${n}` } }),
      )
      await append(app.db, app.org_id, run.id, null, { entries })
      const seen: unknown[] = []
      for (let skip = 0; ; skip += 100) {
        const response = await get(
          `/v1/alpha/organizations/${app.org_id}/agent/run/${run.id}/logs?skip=${skip}&limit=100`,
        )
        const page = expectModel('AgentRunWithLogsResponse', response)
        expect(page).toMatchObject({
          id: run.id,
          organization_id: app.org_id,
          page: skip / 100 + 1,
          size: 100,
        })
        expect(page.pages).toBe(Math.ceil((page.total_logs ?? 0) / 100))
        seen.push(...page.logs)
        if (page.logs.length < 100) break
      }
      expect(seen.length).toBeGreaterThanOrEqual(251)
      expectModel('AgentRunWithLogsResponse', await get(`${org}/agent/run/${run.id}/logs?skip=0&limit=1`))
    })

    test('health checks: the organization, and one run', async () => {
      expectModel('OrganizationResponse', await get(org))
      expect(
        expectModel('Page_AgentRunResponse_', await get(`${org}/agent/runs?limit=1`)).items.length,
      ).toBeLessThanOrEqual(1)
    })

    test('scripts that poll a nonexistent path post the message of its 404', async () => {
      for (const path of ['/v1/agent/trace/1', `${org}/agent/trace/1`]) {
        const { status, body } = await get(path)
        expect([status, typeof body.message]).toEqual([404, 'string'])
      }
      expect((await created()).status).toBe(active)
    })

    test('an organization without repositories gets the advice to add some', async () => {
      const empty = await addOrganization(app, `empty-${profile}`)
      const caller = { ...client, token: empty.token }
      const path = `/v1/organizations/${empty.org_id}/agent/run`
      const response = await send(caller, {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json' },
        body: '{"prompt":"x"}',
      })
      expectError(
        response,
        404,
        /^No repos found in the organization\. Please add some repos and try again\.$/,
      )
    })
  },
)
