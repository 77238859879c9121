import { mcpServerSettings } from '../../../src/contract/organizations/mcp-servers.ts'
import { no_budget } from '../../../src/contract/runs/run-limits.ts'
import { exampleMessage } from '../../../src/contract/webhooks/webhook-messages.ts'
import { digest } from '../../../src/core/access/token.ts'
import { insertMembership, insertUser } from '../../../src/store/access/accounts.ts'
import { saveInvitation } from '../../../src/store/access/invitations.ts'
import { saveMcpServer } from '../../../src/store/access/mcp-servers.ts'
import { insertServiceUser } from '../../../src/store/access/members.ts'
import { insertOrganization } from '../../../src/store/access/organizations.ts'
import { insertRepository } from '../../../src/store/access/repositories.ts'
import { saveSkill } from '../../../src/store/access/skills.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import type { Database } from '../../../src/store/database.ts'
import { insertComment } from '../../../src/store/pull-requests/pull-request-comments.ts'
import { openHeldBack } from '../../../src/store/pull-requests/pull-request-moves.ts'
import { savePullRequest } from '../../../src/store/pull-requests/pull-requests.ts'
import { append } from '../../../src/store/runs/append.ts'
import { insertEvent } from '../../../src/store/runs/organization-events.ts'
import { insertRun } from '../../../src/store/runs/runs.ts'
import { insertEnvironment } from '../../../src/store/workspaces/environments.ts'
import { userMessage } from '../../../src/trace/entry.ts'

export type Organization = { org_id: number; user_id: number; token: string }
export type Tenant = Organization & {
  repo_id: number
  run_id: number
  pr_id: number
  artifact_id: number
  token_id: number
  service_user_id: number
  delivery_id: number
  comment_id: number
  environment_id: number
  sandbox_id: number
  invitation_id: number
}

/** A webhook of a run that gets no event, at an address that is refused. */
const NOWHERE = JSON.stringify([{ url: 'http://127.0.0.1:9/', events: ['none'] }])

/** Another organization in the same service, with one user and a token of theirs. */
export async function addOrganization({ db }: { db: Database }, name: string): Promise<Organization> {
  const token = `token-of-the-organization-${name}`
  const { id: org_id } = await insertOrganization(db, name)
  const { id: user_id } = await insertUser(db, { full_name: `Admin of ${name}` })
  await insertMembership(db, org_id, user_id, 'ADMIN')
  await insertToken(db, {
    user_id,
    kind: 'personal',
    name,
    digest: digest(token),
    wire_profile: 'standard',
    expires_in_seconds: null,
  })
  return { org_id, user_id, token }
}

/**
 * The same with a missing repository and a queued run whose trace has one entry and which has a pull request,
 * another token and a service user.
 */
export async function addTenant(app: { db: Database }, name = 'Other'): Promise<Tenant> {
  const { db } = app
  const { org_id, user_id, token } = await addOrganization(app, name)
  const repository = {
    organization_id: org_id,
    name: 'r',
    full_name: `${name}/r`,
    url: `/nowhere/${name}.git`,
    kind: 'local',
    description: null,
    sample: false,
  } as const
  const { id: repo_id } = await insertRepository(db, repository)
  const { id: run_id } = await insertRun(db, {
    organization_id: org_id,
    user_id,
    repository_id: repo_id,
    source_type: 'API',
    agent_type: 'built_in',
    model: 'scripted/playbook',
    prompt: `secret of ${name}`,
    title: `secret of ${name}`,
    tags: [],
    metadata: null,
    webhooks: NOWHERE,
    base_ref: null,
    base_sha: null,
    auto_create_pr: true,
    parent_run_id: null,
    budget: no_budget,
    deadline_seconds: 3_600,
  })
  const message = {
    text: `secret of ${name}`,
    user_id,
    source_type: 'API' as const,
    mode: 'prompt',
    images: 0,
  }
  await append(db, org_id, run_id, null, { entries: [userMessage(message)] })
  await insertEvent(db, org_id, run_id, 'agent_run.created', { status: 'queued' })
  const pr_id = await addPullRequest(
    db,
    { organization_id: org_id, repository_id: repo_id, run_id },
    `secret of ${name}`,
  )
  const spare = {
    user_id,
    kind: 'personal',
    name: `secret of ${name}`,
    wire_profile: 'standard',
    expires_in_seconds: null,
  } as const
  const { id: token_id } = await insertToken(db, {
    ...spare,
    digest: digest(`spare ${token}`),
    organization_id: org_id,
  })
  const { id: service_user_id } = await insertServiceUser(db, org_id, `secret of ${name}`)
  await insertMembership(db, org_id, service_user_id, 'READER')
  const artifact_id = await addArtifact(db, { organization_id: org_id, run_id }, `secret of ${name}`)
  const delivery_id = await addDelivery(db, { organization_id: org_id, run_id }, `secret of ${name}`)
  const comment_id = await addComment(db, { organization_id: org_id, pr_id, user_id }, `secret of ${name}`)
  const environment_id = await addEnvironment(
    db,
    { organization_id: org_id, repository_id: repo_id, run_id },
    `secret of ${name}`,
  )
  const sandbox_id = await addSandbox(db, { organization_id: org_id, run_id })
  const made = {
    repo_id,
    run_id,
    pr_id,
    artifact_id,
    token_id,
    service_user_id,
    delivery_id,
    comment_id,
    environment_id,
    sandbox_id,
  }
  const invited = {
    email: 'secret@example.org',
    full_name: name,
    role: 'READER',
    created_by: user_id,
    days: 1,
  } as const
  const { id: invitation_id } = await saveInvitation(db, org_id, {
    ...invited,
    digest: digest(`invitation to ${name}`),
  })
  await addSkill(db, { org_id, user_id }, `secret of ${name}`)
  await addMcpServers(db, { org_id, user_id, repo_id }, `secret of ${name}`)
  return { org_id, user_id, token, ...made, invitation_id }
}

/** The skill that the requests of every-endpoint.ts name. */
export const addSkill = (db: Database, of: { org_id: number; user_id: number }, text: string) =>
  saveSkill(
    db,
    { organization_id: of.org_id, user_id: of.user_id, name: 'release', description: text, content: text },
    50,
  )

/** The MCP servers that the requests of every-endpoint.ts name. */
export async function addMcpServers(
  db: Database,
  of: { org_id: number; user_id: number; repo_id: number },
  command: string,
) {
  const server = {
    organization_id: of.org_id,
    user_id: of.user_id,
    name: 'tickets',
    settings: mcpServerSettings({ command }),
  }
  await saveMcpServer(db, { ...server, repository_id: null }, 20)
  await saveMcpServer(db, { ...server, repository_id: of.repo_id }, 20)
}

/** An environment on a nonexistent machine. */
export async function addEnvironment(
  db: Database,
  tenant: { organization_id: number; repository_id: number; run_id: number },
  name: string,
): Promise<number> {
  const key = digest(name).toString('hex')
  const of = {
    folder_id: 'elsewhere',
    template: key,
    key,
    setup_digest: 'x',
    manifests_digest: 'x',
    base_ref: name,
    base_sha: 'a'.repeat(40),
    left_out: [],
  }
  const made = await insertEnvironment(db, {
    ...tenant,
    ...of,
    digest: 'd',
    bytes: 1,
    setup_ms: 1,
    max_age_seconds: 1_000,
  })
  if (!made) throw new Error('there is one already')
  return made.id
}

/** A pull request of a run, whose branch was never pushed. */
export async function addPullRequest(
  db: Database,
  tenant: { organization_id: number; repository_id: number; run_id: number },
  title: string,
): Promise<number> {
  // Its base is in no repository: a read finds nothing that would update the row, and so close it.
  const names = {
    title,
    body: title,
    url: 'http://x',
    head_branch: `agent/run-${tenant.run_id}-x`,
    base_branch: 'nowhere',
  }
  const shas = { base_sha: 'a'.repeat(40), head_sha: 'b'.repeat(40) }
  const pr = await savePullRequest(db, {
    ...tenant,
    ...names,
    ...shas,
    files_changed: 1,
    additions: 1,
    deletions: 0,
  })
  if (!pr) throw new Error('there is one already, and it has ended')
  await openHeldBack(db, tenant.organization_id, pr.id, shas.head_sha)
  return pr.id
}

/** A comment on a pull request. */
export async function addComment(
  db: Database,
  { organization_id, pr_id, user_id }: { organization_id: number; pr_id: number; user_id: number },
  body: string,
): Promise<number> {
  const nowhere = { path: null, line: null, side: null, head_sha: 'b'.repeat(40) }
  return (
    (
      await insertComment(db, organization_id, {
        pull_request_id: pr_id,
        user_id,
        run_id: null,
        body,
        ...nowhere,
      })
    )?.id ?? 0
  )
}

/** An ended one, of a run. */
export async function addSandbox(
  db: Database,
  tenant: { organization_id: number; run_id: number },
): Promise<number> {
  const limits = { max_memory_bytes: 1, cpus: 1, max_processes: 1, max_disk_bytes: 1, max_files: 1 }
  const { rows } = await db.query<{ id: number }>({
    text: `insert into sandboxes (
        organization_id, run_id, kind, driver, host, epoch, state, end_reason, limits, first_seq, last_seq,
        ended_at
      )
      values ($1, $2, 'agent', 'd', 'h', 0, 'ended', 'stopped', $3, 1, 1, now())
      returning id`,
    values: [tenant.organization_id, tenant.run_id, JSON.stringify(limits)],
  })
  return rows[0]?.id ?? 0
}

/** A delivery that was given up, of a run with this webhook. */
export async function addDelivery(
  db: Database,
  tenant: { organization_id: number; run_id: number },
  title: string,
): Promise<number> {
  const { web_url: _made, ...messageData } = exampleMessage.data
  const data = { agent_run_id: tenant.run_id, organization_id: tenant.organization_id, title }
  const { rows } = await db.query<{ id: number }>({
    text: `with named as (
        update runs
        set webhooks = $4
        where organization_id = $1 and id = $2
      )
      insert into webhook_deliveries (
        organization_id, run_id, url, event_seq, type, body, state, finished_at, give_up_at
      )
      values ($1, $2, 'http://127.0.0.1:9/', 1, 'agent_run.created', $3, 'failed', now(), now())
      returning id`,
    values: [tenant.organization_id, tenant.run_id, JSON.stringify({ ...messageData, ...data }), NOWHERE],
  })
  return rows[0]?.id ?? 0
}

/** The whole output of the run's first entry. */
export async function addArtifact(
  db: Database,
  tenant: { organization_id: number; run_id: number },
  content: string | Uint8Array,
  content_type = 'text/plain; charset=utf-8',
): Promise<number> {
  const bytes = Buffer.from(content)
  const { rows } = await db.query<{ id: number }>({
    text: `insert into artifacts (organization_id, run_id, seq, content_type, content, total_bytes)
      values ($1, $2, 1, $3, $4, $5)
      returning id`,
    values: [tenant.organization_id, tenant.run_id, content_type, bytes, bytes.length],
  })
  return rows[0]?.id ?? 0
}
