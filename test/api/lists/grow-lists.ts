import type { EndpointName } from '../../../src/contract/endpoints.ts'
import { append } from '../../../src/store/runs/append.ts'
import { insertSandbox } from '../../../src/store/workspaces/sandboxes.ts'
import { entry } from '../../../src/trace/entry.ts'
import { startFakeGitea } from '../../forge/fake-gitea.ts'
import { startFakeGitHub } from '../../forge/fake-github.ts'
import { createRun } from '../../runs/await-run.ts'
import { rows } from '../../start-app.ts'
import type { ForgeApp } from '../repositories/proposals.ts'
import { putRun } from '../runs/put-run.ts'
import * as sample from '../store-tenants/samples.ts'

export type GrowingList = {
  path: string
  /** Identifies an item. */
  key: string
  size: number
  /** Adds one item; absent: the list is that of another service. */
  grow?: () => Promise<unknown>
}

/** Every list with `cursor`, with a path that returns it and a way to add to it. */
export async function growLists(
  app: ForgeApp,
  stack: AsyncDisposableStack,
): Promise<Partial<Record<EndpointName, GrowingList>>> {
  const org = `/v1/organizations/${app.org_id}`
  let n = 0
  const next = () => String(++n).padStart(4, '0')
  const insert = (text: string, ...values: unknown[]) => rows(app, text, [app.org_id, ...values])
  const run = await createRun(app, { prompt: 'parent' })
  await putRun(app, run.id, 'running')
  const pr = await app.propose({ 'new.txt': 'x\n' })
  const [{ epoch } = { epoch: 0 }] = await rows<{ epoch: number }>(
    app,
    'select epoch from runs where id = $1',
    [run.id],
  )
  const addSandbox = () =>
    insertSandbox(app.db, { organization_id: app.org_id, run_id: run.id, epoch }, sample.sandbox)
  const addEntry = () =>
    append(app.db, app.org_id, run.id, null, {
      entries: [entry({ message_type: 'ACTION', tool_name: 'shell' })],
    })
  const sandbox_id = await addSandbox()
  const secretAt = (path: string) => () =>
    app.call('PUT', `${org}${path}/NAME_${next()}`, { value: 'x'.repeat(12) })
  const serverAt = (path: string) => () => app.call('PUT', `${org}${path}/server-${next()}`, { command: 'x' })
  const by_id = { key: 'id', size: 2 }
  return {
    listAgentRuns: {
      ...by_id,
      path: `${org}/agent/runs?tag=one`,
      grow: () => createRun(app, { prompt: 'x', tags: ['one'] }),
    },
    listRelatedAgentRuns: {
      ...by_id,
      path: `${org}/agent/run/${run.id}/related`,
      grow: () => createRun(app, { prompt: 'x', parent_run_id: run.id }),
    },
    getAgentRunLogs: { path: `${org}/agent/run/${run.id}/logs`, key: 'seq', size: 2, grow: addEntry },
    getAgentRunRecovery: {
      path: `${org}/agent/run/${run.id}/recovery`,
      key: 'n',
      size: 2,
      grow: () =>
        insert(
          `insert into journal (organization_id, run_id, n, turn, epoch, kind, body, created_at)
            select $1, $2, 1000 + $3::int, 1, 1, 'model_started', '{}', now() + make_interval(secs => $3)`,
          ...[run.id, Number(next())],
        ),
    },
    listSandboxes: { ...by_id, path: `${org}/sandboxes`, grow: addSandbox },
    getSandboxLogs: { path: `${org}/sandbox/${sandbox_id}/logs`, key: 'seq', size: 2, grow: addEntry },
    listOrganizations: {
      ...by_id,
      path: '/v1/organizations',
      grow: () => app.call('POST', '/v1/organizations', { name: next() }),
    },
    listUsers: { ...by_id, path: `${org}/users`, grow: () => addMember(app, next(), 'person') },
    listMembers: {
      ...by_id,
      key: 'user_id',
      path: `${org}/members`,
      grow: () => addMember(app, next(), 'person'),
    },
    listServiceUsers: {
      ...by_id,
      path: `${org}/service-users`,
      grow: () => addMember(app, next(), 'service'),
    },
    listInvitations: {
      ...by_id,
      path: `${org}/invitations`,
      grow: () =>
        insert(
          `insert into invitations (organization_id, email, role, digest, expires_at)
            values ($1, $2, 'MEMBER', $3, now() + interval '1 day')`,
          ...[`${next()}@example.org`, Buffer.from(next())],
        ),
    },
    listTokens: {
      ...by_id,
      path: `${org}/tokens`,
      grow: () =>
        insert(
          `insert into tokens (organization_id, user_id, kind, name, digest)
            values ($1, $2, 'personal', 'x', $3)`,
          ...[app.user_id, Buffer.from(next())],
        ),
    },
    listAuditLog: {
      ...by_id,
      path: `${org}/audit-log?target_type=run`,
      grow: () =>
        insert(
          `insert into audit_entries (organization_id, action, target_type, detail)
            values ($1, 'agent_run.banned', 'run', '{}')`,
        ),
    },
    listSkills: {
      path: `${org}/skills`,
      key: 'name',
      size: 2,
      grow: () =>
        insert(
          `insert into skills (organization_id, name, description, content, updated_by)
            values ($1, $2, 'x', 'x', $3)`,
          next(),
          1,
        ),
    },
    listMcpServers: { path: `${org}/mcp-servers`, key: 'name', size: 2, grow: serverAt('/mcp-servers') },
    listRepositoryMcpServers: {
      path: `${org}/repos/${app.repo_id}/mcp-servers`,
      key: 'name',
      size: 2,
      grow: serverAt(`/repos/${app.repo_id}/mcp-servers`),
    },
    listSecrets: { path: `${org}/secrets`, key: 'name', size: 2, grow: secretAt('/secrets') },
    listRepositorySecrets: {
      path: `${org}/repos/${app.repo_id}/secrets`,
      key: 'name',
      size: 2,
      grow: secretAt(`/repos/${app.repo_id}/secrets`),
    },
    listRepositories: {
      ...by_id,
      path: `${org}/repos`,
      grow: () =>
        insert(
          `insert into repositories (organization_id, name, full_name, url, kind)
            values ($1, $2, 'acme/' || $2::text, '/nowhere/' || $2::text, 'local')`,
          next(),
        ),
    },
    listPullRequests: {
      ...by_id,
      path: `${org}/prs`,
      grow: () =>
        insert(
          `insert into pull_requests (
              organization_id, repository_id, number, state, title, body, url, head_branch, base_branch,
              base_sha, head_sha, files_changed, additions, deletions
            )
            select organization_id, repository_id, 1000 + $3::int, 'closed', title, body, url, 'b' || $3::int,
              base_branch, base_sha, head_sha, 1, 1, 1
            from pull_requests
            where organization_id = $1 and id = $2`,
          ...[pr.id, Number(next())],
        ),
    },
    listPullRequestCommits: {
      path: `${org}/prs/${pr.id}/commits`,
      key: 'sha',
      size: 2,
      grow: () =>
        rows(app, 'update pull_requests set head_sha = $2 where id = $1', [
          pr.id,
          app.put(pr.branch, { 'c.txt': next() }),
        ]),
    },
    listPullRequestComments: {
      ...by_id,
      path: `${org}/prs/${pr.id}/comments`,
      grow: () => app.call('POST', `${org}/prs/${pr.id}/comments`, { body: 'x' }),
    },
    listWebhookDeliveries: {
      ...by_id,
      path: `${org}/webhooks/agent-run/deliveries`,
      grow: () =>
        insert(
          `insert into webhook_deliveries (
              organization_id, run_id, event_seq, type, body, state, give_up_at, finished_at
            )
            values ($1, $2, 1, 'agent_run.created', '{}', 'failed', now(), now())`,
          run.id,
        ),
    },
    ...(await forgeLists(app, stack)),
  }
}

async function addMember(app: ForgeApp, name: string, kind: 'person' | 'service') {
  await rows(
    app,
    `with u as (
        insert into users (full_name, kind, service_organization_id)
        values ($2, $3, case when $3 = 'service' then $1::bigint end)
        returning id
      )
      insert into memberships (organization_id, user_id, role)
      select $1, id, 'MEMBER'
      from u`,
    [app.org_id, name, kind],
  )
}

async function forgeLists(
  app: ForgeApp,
  stack: AsyncDisposableStack,
): Promise<Partial<Record<EndpointName, GrowingList>>> {
  const gitea = stack.use(await startFakeGitea())
  const github = stack.use(await startFakeGitHub())
  const at = (path: string) => `/v1/organizations/${app.org_id}/integrations${path}`
  await app.call('PUT', at('/gitea'), { url: gitea.url, token: gitea.token })
  await app.call('PUT', at('/github'), { url: github.url, token: github.token })
  const list = (kind: string, url: string) => ({
    path: at(`/${kind}/repositories?url=${encodeURIComponent(url)}`),
    key: 'full_name',
    size: 40,
  })
  return {
    listGitHubRepositories: list('github', github.url),
    listGiteaRepositories: list('gitea', gitea.url),
  }
}
