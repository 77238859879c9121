import { digest } from '../../../src/core/access/token.ts'
import { updateUser } from '../../../src/store/access/accounts.ts'
import { saveEgress } from '../../../src/store/access/egress.ts'
import { saveInvitation } from '../../../src/store/access/invitations.ts'
import { saveMcpServer } from '../../../src/store/access/mcp-servers.ts'
import { saveSecret } from '../../../src/store/access/secrets.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { saveChange } from '../../../src/store/changes.ts'
import type { Db } from '../../../src/store/database.ts'
import { insertForgeDelivery } from '../../../src/store/forges/forge-deliveries.ts'
import { recordGaps } from '../../../src/store/forges/forge-gaps.ts'
import { saveForge } from '../../../src/store/forges/forges.ts'
import { saveCheckCommands } from '../../../src/store/pull-requests/check-commands.ts'
import { saveCheckSuiteSettings } from '../../../src/store/pull-requests/check-suite-settings.ts'
import { saveCheck } from '../../../src/store/pull-requests/checks.ts'
import { insertComment } from '../../../src/store/pull-requests/pull-request-comments.ts'
import { savePullRequest } from '../../../src/store/pull-requests/pull-requests.ts'
import { append } from '../../../src/store/runs/append.ts'
import { insertSession } from '../../../src/store/runs/recorded-sessions.ts'
import { insertStartup } from '../../../src/store/runs/run-startups.ts'
import { saveCheckpoints } from '../../../src/store/workspaces/checkpoints.ts'
import { insertSandbox } from '../../../src/store/workspaces/sandboxes.ts'
import { saveSetupCommands } from '../../../src/store/workspaces/setup-commands.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows } from '../../start-app.ts'
import { addArtifact, addEnvironment, addTenant } from '../access/second-organization.ts'
import { putRun } from '../runs/put-run.ts'
import * as sample from './samples.ts'

/** Functions of the store by their names, called for an organization. */
export type Reaches = Record<string, (db: Db, org: number) => Promise<unknown>>
export type Ours = Awaited<ReturnType<typeof addOurs>>

/** Another organization, and an object of each kind of ours that it must not reach. */
export async function addOurs(app: App) {
  await app.call('PATCH', `/v1/organizations/${app.org_id}`, { budget_usd_per_month: 1_000 })
  const other = await addTenant(app)
  const runs = await addRuns(app)
  await addOfRepository(app)
  const mine = {
    repo: app.repo_id,
    ...runs,
    ...(await addOfRun(app, runs)),
    ...(await addPullRequest(app, runs.run)),
    ...(await addDeliveries(app, runs.notified_run)),
    ...(await addOfForge(app, runs.run)),
  }
  return {
    app,
    other,
    mine,
    /** More changes than there will ever be, so that nothing is posted. */
    claimed: (organization_id: number, id: number) => ({
      organization_id,
      id,
      change: 1_000_000_000,
      epoch: 1,
    }),
    /** Limited only by the organization. */
    stranger: {
      user_id: other.user_id,
      token_id: 0,
      all: true,
      anywhere: true,
      scopes: null,
      repository_ids: null,
    },
  }
}

/** `epoch` is that of `run`, as if the epoch of a worker had leaked. */
async function addRuns(app: App) {
  const { id: run } = await createRun(app, { prompt: 'x' })
  await append(app.db, app.org_id, run, null, {
    entries: [entry({ message_type: 'ACTION', tool_name: 'shell' })],
    records: [
      { kind: 'set_up', key: null, body: JSON.stringify({ left_out: ['node_modules'] }) },
      { kind: 'aside_ended', key: 'k', body: '{}' },
      {
        kind: 'checks_judged',
        key: null,
        body: JSON.stringify({ head_sha: 'b', summary: '', because: null }),
      },
      { kind: 'message', key: null, body: '{}' },
      { kind: 'tool_finished', key: 'call_1', body: '{}' },
    ],
  })
  const [shown] = await rows<{ seq: number }>(
    app,
    `update messages
      set images = '["data:image/png;base64,AA=="]'
      where run_id = $1
      returning seq`,
    [run],
  )
  await putRun(app, run, 'running')
  const { id: child } = await createRun(app, { prompt: 'x', parent_run_id: run })
  await rows(app, `update runs set source_type = 'PARENT_RUN', cost_usd = 1 where id = $1`, [child])
  const [row] = await rows<{ epoch: number }>(
    app,
    `update runs
      set workspace = '/w', branch = 'h', finished_at = now()
      where id = $1
      returning epoch`,
    [run],
  )
  const { id: ended } = await createRun(app, { prompt: 'x' })
  await putRun(app, ended, 'completed')
  const { id: expired } = await createRun(app, { prompt: 'x' })
  await putRun(app, expired, 'completed')
  const session = { organization_id: app.org_id, user_id: app.user_id, session_id: 'ours' }
  const { run_id: recorded } = await insertSession(app.db, session, { title: 'x', model: 'x' })
  await putRun(app, recorded, 'failed')
  await rows(app, `insert into leftover_workspaces values ($1, $2, '/w', 'h')`, [app.org_id, ended])
  return {
    run,
    child,
    ended,
    expired,
    recorded,
    notified_run: ended,
    epoch: row?.epoch ?? 0,
    image_seq: shown?.seq ?? 0,
  }
}

async function addOfRun(app: App, { run, epoch }: { run: number; epoch: number }) {
  const of_run = { organization_id: app.org_id, run_id: run }
  const token = {
    user_id: app.user_id,
    kind: 'personal',
    name: 't',
    digest: Buffer.from('t'),
    wire_profile: 'standard',
  } as const
  await insertStartup(app.db, app.org_id, run, app.repo_id, sample.startup)
  await saveChange(app.db, app.org_id, run, epoch, sample.change)
  await saveCheckpoints(
    app.db,
    { ...of_run, epoch },
    {
      base_sha: 'a',
      checkpoints: [sample.checkpoint],
      pack: sample.pack,
      max_bytes: 100,
    },
  )
  return {
    invitation: (await saveInvitation(app.db, app.org_id, { ...sample.invitation, created_by: app.user_id }))
      .id,
    token: (await insertToken(app.db, { ...token, expires_in_seconds: null, organization_id: app.org_id }))
      .id,
    artifact: await addArtifact(app.db, of_run, 'ours'),
    environment: await addEnvironment(app.db, { ...of_run, repository_id: app.repo_id }, 'ours'),
    environment_key: digest('ours').toString('hex'),
    sandbox: (await insertSandbox(app.db, { ...of_run, epoch }, sample.sandbox)) ?? 0,
  }
}

async function addOfRepository(app: App): Promise<void> {
  const { db, org_id, repo_id, user_id } = app
  await rows(
    app,
    `update memberships
      set email = 'ours@example.org'
      where organization_id = $1 and user_id = $2`,
    [org_id, user_id],
  )
  await updateUser(db, user_id, {
    full_name: undefined,
    avatar_url: undefined,
    custom_prompt: 'x',
    github_user_id: undefined,
    github_username: undefined,
  })
  await saveSecret(db, { ...sample.secret, organization_id: org_id, repository_id: repo_id }, 100)
  await saveMcpServer(db, { ...sample.mcp_server, organization_id: org_id, repository_id: repo_id }, 20)
  await saveCheckSuiteSettings(db, org_id, repo_id, sample.no_settings)
  await saveEgress(db, org_id, { ...sample.egress, repository_id: repo_id }, user_id)
  await saveSetupCommands(db, org_id, repo_id, sample.setup_commands, user_id)
  await saveCheckCommands(db, org_id, repo_id, [{ name: 'a', command: 'true', timeout_seconds: 60 }], user_id)
  await saveCheck(db, org_id, repo_id, sample.check)
}

async function addPullRequest({ db, org_id, repo_id, user_id }: App, run: number) {
  const of_run = { organization_id: org_id, repository_id: repo_id, run_id: run }
  const pr = (await savePullRequest(db, { ...sample.pull_request, ...of_run }))?.id ?? 0
  const comment = await insertComment(db, org_id, { ...sample.comment, pull_request_id: pr, user_id })
  return { pr, comment: comment?.id ?? 0 }
}

async function addDeliveries(app: App, run: number) {
  await rows(app, `update runs set webhooks = $2 where id = $1`, [run, '[{"url":"https://a.example/"}]'])
  const [waiting, claimed] = await rows<{ id: number }>(
    app,
    `insert into webhook_deliveries (
        organization_id, run_id, url, event_seq, type, body, state, epoch, lease_until, give_up_at
      )
      select $1, $2, 'https://a.example/', 1, 'agent_run.created', '{}', 'pending', 1, lease,
        now() + interval '1 day'
      from unnest(array[null, now() + interval '1 day']) with ordinality as l (lease, position)
      order by position
      returning id`,
    [app.org_id, run],
  )
  await rows(
    app,
    `insert into webhook_attempts (organization_id, delivery_id, n)
    values ($1, $2, 1)`,
    [app.org_id, claimed?.id ?? 0],
  )
  return { delivery: waiting?.id ?? 0, claimed: claimed?.id ?? 0 }
}

async function addOfForge(app: App, run: number) {
  const forge =
    (await saveForge(app.db, { ...sample.forge, organization_id: app.org_id, user_id: app.user_id }, 10))
      ?.id ?? 0
  await insertForgeDelivery(app.db, {
    ...sample.forge_delivery,
    organization_id: app.org_id,
    forge_id: forge,
  })
  await rows(app, "update forge_deliveries set run_id = $1, epoch = 1, lease_until = 'infinity'", [run])
  const key = { organization_id: app.org_id, forge_id: forge, repository_id: app.repo_id }
  await recordGaps(app.db, key, ['check_runs'], [{ resource: 'check_runs', detail: 'refused' }])
  // Its attempt never ends, so nothing is posted during the test.
  const [mark, postponed] = await rows<{ id: number }>(
    app,
    `insert into run_marks (
        organization_id, run_id, number, repository_id, head_sha, pushed, epoch, lease_until
      )
      select $1, $2, $2, $3, sha, true, 1, 'infinity'
      from unnest(array['m', 'n']) as s (sha)
      returning id`,
    [app.org_id, run, app.repo_id],
  )
  return { forge, mark: mark?.id ?? 0, postponed: postponed?.id ?? 0 }
}
