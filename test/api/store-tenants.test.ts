import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { digest } from '../../src/core/token.ts'
import { getCustomPrompt, getMember, insertToken, updateUser } from '../../src/store/accounts.ts'
import { append } from '../../src/store/append.ts'
import { askApproval, giveApproval } from '../../src/store/approvals.ts'
import { getArtifact, saveArtifact } from '../../src/store/artifacts.ts'
import { listRunsOfPullRequests, setBanned } from '../../src/store/bans.ts'
import { getChange, letBranchGo, recordPush, saveChange } from '../../src/store/changes.ts'
import { deleteCheckCommandsOf, getCheckCommands, saveCheckCommands } from '../../src/store/check-commands.ts'
import { getCheckSuiteSettings, saveCheckSuiteSettings } from '../../src/store/check-suite-settings.ts'
import { findRunsAt } from '../../src/store/check-waits.ts'
import { copyCheckpoint, getPack, listPacks } from '../../src/store/checkpoint-packs.ts'
import {
  checkpointAt,
  extendCheckpoint,
  listCheckpoints,
  newestKeptSeq,
  reopenCheckpoints,
  saveCheckpoints,
} from '../../src/store/checkpoints.ts'
import { type CheckReport, listCheckNames, listChecks, saveCheck } from '../../src/store/checks.ts'
import { costOfChildRuns, generationOf, listChildRuns, lockLiveChildRuns, setRepositoryBounds } from '../../src/store/child-runs.ts'
import type { Db } from '../../src/store/database.ts'
import { forgetLeftoverWorkspace } from '../../src/store/deletions.ts'
import { deleteEgressOf, getEgress, listEgressOfRun, saveEgress } from '../../src/store/egress.ts'
import { countEnvironmentUse, deleteEnvironments, findEnvironment, listEnvironments } from '../../src/store/environments.ts'
import { insertEvent, listEventsAfter } from '../../src/store/events.ts'
import { findRunOfSubject, insertForgeDelivery, settleForgeTask } from '../../src/store/forge-deliveries.ts'
import { forgetTold, postponeTold, settleTold, tellAgain } from '../../src/store/forge-queues.ts'
import { recordForgeIdentity, recordForgeProblem, recordForgeUse, saveForge } from '../../src/store/forges.ts'
import { copyConversation, hasChangedFiles } from '../../src/store/forks.ts'
import {
  lastJudged,
  lastOutcome,
  lastRecord,
  lastSetUp,
  listAsides,
  listJournal,
  listPushes,
  listSteps,
  newestMessages,
} from '../../src/store/journal.ts'
import { heartbeat } from '../../src/store/leases.ts'
import { knownEntries, listEntriesToAnalyze, listRunsToAnalyze } from '../../src/store/log-analysis.ts'
import { findEntries, listEntries, listEntriesAfter } from '../../src/store/log-entries.ts'
import { belongsElsewhere, deleteMembership, holdMembership, lockMember, setRole } from '../../src/store/members.ts'
import { insertMessage, postponeMessages, takeMessages } from '../../src/store/messages.ts'
import { forgetDefaultRepository, setDefaultRepository, updateOrganization } from '../../src/store/organizations.ts'
import { recordPause, requestPause, withdrawPause } from '../../src/store/pauses.ts'
import {
  deleteComment,
  getComment,
  insertComment,
  listComments,
  lockComment,
  updateComment,
} from '../../src/store/pull-request-comments.ts'
import {
  addMergeAttempt,
  dropMergeAttempt,
  editPullRequest,
  markMerged,
  openHeldBack,
  recordHead,
  touchPullRequest,
} from '../../src/store/pull-request-moves.ts'
import {
  detachPullRequests,
  findByBranch,
  findPullRequests,
  getPullRequest,
  listPullRequests,
  pullRequestsOfBranches,
  savePullRequest,
} from '../../src/store/pull-requests.ts'
import { repositoryOf } from '../../src/store/reach.ts'
import { findRemote, isHead, mirrorRemote, recordRemote, recordRemoteDraft } from '../../src/store/remote-pull-requests.ts'
import {
  getRepository,
  holdRepository,
  lockRepository,
  ownRepositoryIds,
  removeRepository,
  setDefaultBranch,
  setSetupStatus,
  updateRepository,
} from '../../src/store/repositories.ts'
import { resealForge, resealRunTargets, resealSecret, resealWebhook, secretsOfOtherKeys } from '../../src/store/resealing.ts'
import { deleteEndedRuns, deleteFirstEntries, lockExpiredRuns } from '../../src/store/retention.ts'
import { findRunHeads } from '../../src/store/run-heads.ts'
import { insertRunMark } from '../../src/store/run-marks.ts'
import { handOverRun, moveRun, recordStop, requeueRun, wakeRun } from '../../src/store/run-moves.ts'
import { getStartup, insertStartup, startupFigures } from '../../src/store/run-startups.ts'
import { countLiveRuns, getRun, insertRun, listRuns, lockRun, type NewRun, updateRun } from '../../src/store/runs.ts'
import {
  endSandbox,
  getSandbox,
  insertSandbox,
  listSandboxEntries,
  listSandboxes,
  recordSandboxUse,
  sandboxesOfRuns,
} from '../../src/store/sandboxes.ts'
import { deleteSecret, deleteSecretsOf, listSealedSecrets, listSecrets, saveSecret } from '../../src/store/secrets.ts'
import { deleteSetupCommandsOf, getSetupCommands, saveSetupCommands } from '../../src/store/setup-commands.ts'
import { findLiveTokens, getToken, listTokens, revokeToken, revokeTokensOf } from '../../src/store/tokens.ts'
import { recordTraceparent } from '../../src/store/traceparents.ts'
import { sumUsage } from '../../src/store/usage-days.ts'
import { insertDeliveries } from '../../src/store/webhook-deliveries.ts'
import { getDelivery, listAttempts, listDeliveries, requeueDelivery } from '../../src/store/webhook-ledger.ts'
import { scheduleNext, settleDelivery } from '../../src/store/webhook-outcomes.ts'
import { forgetWorkspace, recordCheckout, recordNextBranch, recordWorkspace } from '../../src/store/workspaces.ts'
import { entry } from '../../src/trace/entry.ts'
import { createRun } from '../runs/await-run.ts'
import { type App, rows, startApp } from '../start-app.ts'
import { contentsNow } from './contents.ts'
import { putRun } from './put-run.ts'
import { addArtifact, addEnvironment, addTenant, type Tenant } from './second-organization.ts'

const startup = {
  ...{ queue_ms: 1, claim_ms: 1, mirror_ms: 1, clone_ms: 1, setup_ms: 1, sandbox_ms: 1, first_model_byte_ms: 1, first_action_ms: 1 },
  environment: null,
}
let app: App
let other: Tenant
/** Ours: what the other organization must not reach. `epoch` is the run's, as if a worker's secret had leaked. */
let mine: {
  run: number
  ended: number
  expired: number
  artifact: number
  repo: number
  epoch: number
  token: number
  pr: number
  comment: number
  told: number
  delivery: number
  claimed: number
  forge: number
  mark: number
  environment: number
  environment_key: string
  sandbox: number
}
let mine_child: number
/** More than will ever change of it, so that nothing is to be said. */
const marked = async (organization_id: number) => {
  const [row] = await rows<{ lease: string }>(app, 'select try_at::text as lease from run_marks where id = $1', [mine.mark])
  return { organization_id, id: mine.mark, change: 1_000_000_000, lease: row?.lease ?? 'infinity' }
}
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  const { id } = await createRun(app, { prompt: 'x' })
  await append(app.db, app.org_id, id, null, {
    entries: [entry({ message_type: 'ACTION', tool_name: 'shell' })],
    records: [
      { kind: 'set_up', key: null, body: '{}' },
      { kind: 'aside_ended', key: 'k', body: '{}' },
      { kind: 'checks_judged', key: null, body: '{}' },
      { kind: 'message', key: null, body: '{}' },
      { kind: 'tool_finished', key: null, body: '{}' },
    ],
  })
  await putRun(app, id, 'running')
  mine_child = (await createRun(app, { prompt: 'x', parent_run_id: id })).id
  await rows(app, `update runs set source_type = 'PARENT_RUN', cost_usd = 1 where id = $1`, [mine_child])
  const [row] = await rows<{ epoch: number }>(
    app,
    `update runs set workspace = '/w', branch = 'h', finished_at = now() where id = $1 returning epoch`,
    [id],
  )
  const ended = await createRun(app, { prompt: 'x' })
  await putRun(app, ended.id, 'completed')
  const expired = await createRun(app, { prompt: 'x' })
  await putRun(app, expired.id, 'completed')
  await rows(app, `insert into leftover_workspaces values ($1, $2, '/w', 'h')`, [app.org_id, ended.id])
  const token = { user_id: app.user_id, kind: 'personal', name: 't', digest: Buffer.from('t'), wire_profile: 'standard' } as const
  const { id: token_id } = await insertToken(app.db, { ...token, expires_in_seconds: null, organization_id: app.org_id })
  const artifact = await addArtifact(app.db, { organization_id: app.org_id, run_id: id }, 'ours')
  mine = {
    artifact,
    run: id,
    ended: ended.id,
    expired: expired.id,
    repo: app.repo_id,
    epoch: row?.epoch ?? 0,
    token: token_id,
    pr: 0,
    comment: 0,
    told: ended.id,
    delivery: 0,
    claimed: 0,
    forge: 0,
    mark: 0,
    environment: await addEnvironment(app.db, { organization_id: app.org_id, repository_id: app.repo_id, run_id: id }, 'ours'),
    environment_key: digest('ours').toString('hex'),
    sandbox: 0,
  }
  await updateUser(app.db, app.user_id, { full_name: undefined, avatar_url: undefined, custom_prompt: 'x' })
  await saveSecret(app.db, { ...secret, organization_id: app.org_id, repository_id: app.repo_id }, 100)
  await saveCheckSuiteSettings(app.db, app.org_id, app.repo_id, no_settings)
  await saveEgress(app.db, app.org_id, { ...egress, repository_id: app.repo_id }, app.user_id)
  await saveSetupCommands(app.db, app.org_id, app.repo_id, setup_commands, app.user_id)
  await insertStartup(app.db, app.org_id, id, app.repo_id, startup)
  await saveCheckCommands(app.db, app.org_id, app.repo_id, '[{"name":"a"}]', app.user_id)
  await saveCheck(app.db, app.org_id, app.repo_id, check)
  await saveChange(app.db, app.org_id, id, mine.epoch, change)
  await saveCheckpoints(app.db, { organization_id: app.org_id, run_id: id, epoch: mine.epoch }, 'a', [checkpoint], pack, 100)
  mine.pr = (await savePullRequest(app.db, { ...pull_request, organization_id: app.org_id, repository_id: mine.repo, run_id: id }))?.id ?? 0
  mine.comment = (await insertComment(app.db, app.org_id, { ...comment, pull_request_id: mine.pr, user_id: app.user_id }))?.id ?? 0
  const targets = '[{"url":"https://a.example/"}]'
  await rows(app, `update runs set webhooks = $2 where id = $1`, [mine.told, targets])
  const [waiting, claimed] = await rows<{ id: number }>(
    app,
    `insert into webhook_deliveries (organization_id, run_id, url, event_seq, type, body, state, epoch, lease_until, give_up_at)
      select $1, $2, 'https://a.example/', 1, 'agent_run.created', '{}', 'pending', 1, lease, now() + interval '1 day'
      from unnest(array[null, now() + interval '1 day']) with ordinality as l (lease, place) order by place returning id`,
    [app.org_id, mine.told],
  )
  mine.forge = (await saveForge(app.db, { ...forge, organization_id: app.org_id, user_id: app.user_id }, 10))?.id ?? 0
  await insertForgeDelivery(app.db, { ...told, organization_id: app.org_id, forge_id: mine.forge })
  await rows(app, 'update forge_deliveries set run_id = $1', [mine.run])
  // Nobody says it while the test looks on.
  const [mark] = await rows<{ id: number }>(
    app,
    `insert into run_marks (organization_id, run_id, number, repository_id, head_sha, pushed, try_at) values ($1, $2, $2, $3, 'm', true, 'infinity') returning id`,
    [app.org_id, mine.run, mine.repo],
  )
  mine.mark = mark?.id ?? 0
  mine.sandbox = (await insertSandbox(app.db, { organization_id: app.org_id, run_id: mine.run, epoch: mine.epoch }, sandbox)) ?? 0
  mine.delivery = waiting?.id ?? 0
  mine.claimed = claimed?.id ?? 0
  await rows(app, 'insert into webhook_attempts (organization_id, delivery_id, n) values ($1, $2, 1)', [app.org_id, mine.claimed])
})
afterAll(() => app[Symbol.asyncDispose]())

const settlement = { to: 'again', seconds: 60, url: 'u', status: 503, error: 'e', latency_ms: 1, answer: null } as const
const change = {
  base_sha: 'a',
  head_sha: 'b',
  files_changed: 1,
  additions: 1,
  deletions: 1,
  files: '[]',
  patch: 'p',
  patch_truncated: false,
}
const { patch_truncated: _cut, files: _files, patch: _patch, ...numbers } = change
const { base_sha: _base, head_sha: _head, ...counts } = numbers
const comment = { run_id: null, body: 'b', path: null, line: null, side: null, head_sha: 'c' }
const pull_request = { ...numbers, title: 't', url: 'u', body: 'b', head_branch: 'h', base_branch: 'm' }
const run: Omit<NewRun, 'organization_id' | 'user_id' | 'repository_id' | 'parent_run_id'> = {
  ...{ source_type: 'API', agent_type: 'a', model: 'm', prompt: 'p', title: 't', tags: [], metadata: null, webhooks: null, base_ref: null },
  ...{ base_sha: null, auto_create_pr: true, budget_max_cost_usd: null, budget_max_steps: null, budget_max_active_seconds: null },
  ...{ budget_max_wall_seconds: null, deadline_seconds: 60 },
}
const no_settings = { check_retry_count: 1, ignored_checks: null, check_retry_counts: null, custom_prompts: null, high_priority_apps: null }
const check: CheckReport = {
  ...{ head_sha: 'b', source: 'local', name: 'a', app: null, status: 'queued', conclusion: null, url: null, log_excerpt: null },
  ...{ attempt: 1, started_at: null, completed_at: null },
}
const checkpoint = { seq: 1, through_seq: 2_000, tree: 't', head: null, branch: null, left_out: null }
const pack = { tip: 't', base_sha: null, content: Buffer.from('p') }
const secret = { name: 'TOKEN', for_agent: null, key_id: 'k', sealed: Buffer.from('s'), user_id: 1 }
const forge = {
  ...({
    kind: 'github',
    url: 'https://github.com',
    auth: 'token',
    login: null,
    app_slug: null,
    app_id: null,
    installation_id: null,
  } as const),
  ...{ problem: null, secrets: { key_id: 'k', sealed: Buffer.from('s') } },
}
const sandbox = { kind: 'agent', driver: 'd', host: 'h', limits: '{}' } as const
const taken = { peak_memory_bytes: 7, peak_disk_bytes: null, peak_processes: null, cpu_ms: 7, memory_kills: 0 }
const told = { delivery: 'd', event: 'ping', once: null, subject: 'acme/app#1', task: null, outcome: 'seen' }
const message = { seq: 1, turn: 1, mode: 'steer', text: 'x', images: null } as const

/** Sees whatever it may: no bound but the organization. */
const egress = { mode: 'allowlist', setup_mode: null, allow: '[]', presets: '[]' } as const
const setup_commands = { commands: '[]', maintenance_commands: '[]', variables: '{}', on_failure: 'fail', timeout_seconds: 60 } as const
const stranger = () => ({ user_id: other.user_id, token_id: 0, all: true, anywhere: true, scopes: null, repository_ids: null })

/** For every function that works for an organization: the other one (`org`) reaching for what is ours. */
const reaches: Record<string, (db: Db, org: number) => Promise<unknown>> = {
  insertDeliveries: (db, org) => insertDeliveries(db, org, mine.told, { seq: 1, type: 'agent_run.created', change: '{}' }),
  settleDelivery: (db, org) => settleDelivery(db, { organization_id: org, id: mine.claimed, epoch: 1, n: 1 }, settlement),
  scheduleNext: (db, org) => scheduleNext(db, org, mine.told, 'https://a.example/'),
  listDeliveries: (db, org) => listDeliveries(db, org, { agent_run_id: mine.told }, 0, 100),
  getDelivery: (db, org) => getDelivery(db, org, mine.delivery),
  listAttempts: (db, org) => listAttempts(db, org, mine.claimed, 100),
  requeueDelivery: (db, org) => requeueDelivery(db, org, mine.delivery),
  addMergeAttempt: (db, org) => addMergeAttempt(db, org, mine.pr, 'm'),
  append: (db, org) => append(db, org, mine.run, mine.epoch, { entries: [entry({ message_type: 'ERROR' })] }),
  dropMergeAttempt: (db, org) => dropMergeAttempt(db, org, mine.pr, 'm'),
  belongsElsewhere: async (db, org) => {
    // Of the user's memberships in other organizations it tells that there is one, which is its purpose; and to no stranger.
    expect(await belongsElsewhere(db, org, app.user_id, null)).toBe(true)
    return belongsElsewhere(db, org, app.user_id, app.user_id)
  },
  deleteMembership: (db, org) => deleteMembership(db, org, app.user_id),
  findLiveTokens: async (db, org) => (await findLiveTokens(db, [{ token_id: mine.token, organization_id: org }]))[0],
  getToken: (db, org) => getToken(db, org, stranger(), mine.token),
  holdMembership: (db, org) => holdMembership(db, org, app.user_id),
  listTokens: async (db, org) => (await listTokens(db, org, stranger(), 0, 100)).rows.filter(row => row.id === mine.token),
  lockMember: (db, org) => lockMember(db, org, app.user_id),
  ownRepositoryIds: (db, org) => ownRepositoryIds(db, org, [mine.repo]),
  revokeToken: (db, org) => revokeToken(db, org, stranger(), mine.token),
  revokeTokensOf: (db, org) => revokeTokensOf(db, org, app.user_id),
  setRole: (db, org) => setRole(db, org, app.user_id, 'READER'),
  findEntries: (db, org) => findEntries(db, org, mine.run, {}, { skip: 0, limit: 100, reverse: false }),
  deleteEndedRuns: async (db, org) => (await deleteEndedRuns(db, org, [mine.expired], null)) > 0,
  deleteFirstEntries: async (db, org) => (await deleteFirstEntries(db, org, mine.expired, 100)) > 0,
  lockExpiredRuns: (db, org) => lockExpiredRuns(db, org, [mine.expired], 0),
  detachPullRequests: (db, org) => detachPullRequests(db, org, [mine.run]),
  forgetLeftoverWorkspace: (db, org) => forgetLeftoverWorkspace(db, org, mine.ended),
  findPullRequests: (db, org) => findPullRequests(db, org, { agent_run_id: mine.run, repository_ids: null }, 0, 100),
  forgetWorkspace: (db, org) => forgetWorkspace(db, org, mine.run, '/w'),
  findRunHeads: async (db, org) => (await findRunHeads(db, [{ organization_id: org, id: mine.run }]))[0],
  getArtifact: (db, org) => getArtifact(db, org, mine.artifact),
  getCheckSuiteSettings: (db, org) => getCheckSuiteSettings(db, org, mine.repo),
  saveCheckSuiteSettings: (db, org) => saveCheckSuiteSettings(db, org, mine.repo, { ...no_settings, check_retry_count: 9 }),
  getEgress: (db, org) => getEgress(db, org, mine.repo),
  listEgressOfRun: (db, org) => listEgressOfRun(db, org, mine.repo),
  deleteEgressOf: (db, org) => deleteEgressOf(db, org, mine.repo),
  saveEgress: async (db, org) => {
    await expect(saveEgress(db, org, { ...egress, repository_id: mine.repo }, other.user_id)).rejects.toThrow(/foreign key/)
  },
  insertStartup: (db, org) => insertStartup(db, org, mine.run, null, startup),
  getStartup: (db, org) => getStartup(db, org, mine.run),
  startupFigures: async (db, org) => {
    const { runs } = await startupFigures(db, org, mine.repo, new Date(0))
    return runs === 0 ? undefined : runs
  },
  findEnvironment: (db, org) =>
    findEnvironment(db, org, { repository_id: mine.repo, folder_id: 'elsewhere', key: mine.environment_key, max_age_seconds: 1_000 }),
  countEnvironmentUse: (db, org) => countEnvironmentUse(db, org, mine.environment),
  listEnvironments: (db, org) => listEnvironments(db, org, mine.repo),
  deleteEnvironments: (db, org) => deleteEnvironments(db, org, mine.repo, null),
  insertEnvironment: async (_db, organization_id) => {
    const place = { organization_id, repository_id: mine.repo, run_id: mine.run }
    await expect(addEnvironment(app.db, place, 'theirs')).rejects.toThrow(/foreign key/)
  },
  getSetupCommands: (db, org) => getSetupCommands(db, org, mine.repo),
  deleteSetupCommandsOf: (db, org) => deleteSetupCommandsOf(db, org, mine.repo),
  saveSetupCommands: async (db, org) => {
    await expect(saveSetupCommands(db, org, mine.repo, setup_commands, other.user_id)).rejects.toThrow(/foreign key/)
  },
  getCheckCommands: (db, org) => getCheckCommands(db, org, mine.repo),
  deleteCheckCommandsOf: (db, org) => deleteCheckCommandsOf(db, org, mine.repo),
  saveCheckCommands: async (db, org) => {
    await expect(saveCheckCommands(db, org, mine.repo, '[]', other.user_id)).rejects.toThrow(/foreign key/)
  },
  listChecks: (db, org) => listChecks(db, org, [{ repository_id: mine.repo, head_sha: 'b' }]),
  listCheckNames: (db, org) => listCheckNames(db, org, mine.repo, 10),
  saveCheck: (db, org) => saveCheck(db, org, mine.repo, { ...check, attempt: 2 }),
  setSetupStatus: (db, org) => setSetupStatus(db, org, mine.repo, 'SETUP'),
  deleteSecret: (db, org) => deleteSecret(db, org, mine.repo, 'TOKEN'),
  resealSecret: async (db, org) => {
    const [row] = await secretsOfOtherKeys(app.db, 'another', 0, 1)
    if (!row) throw new Error('no secret')
    return resealSecret(db, { ...row, organization_id: org }, 'new', Buffer.from('x'))
  },
  recordRemote: (db, org) => recordRemote(db, org, mine.pr, { number: 7, url: 'u', state: 'open' }),
  recordForgeUse: (db, org) => recordForgeUse(db, org, mine.forge),
  recordForgeProblem: (db, org) => recordForgeProblem(db, org, mine.forge, 'away'),
  recordForgeIdentity: (db, org) => recordForgeIdentity(db, org, mine.forge, { login: 'agent', app: null }),
  insertForgeDelivery: (db, org) => insertForgeDelivery(db, { ...told, organization_id: org, forge_id: mine.forge, delivery: 'another' }),
  settleForgeTask: (db, org) =>
    settleForgeTask(
      db,
      { organization_id: org, forge_id: mine.forge, delivery: told.delivery },
      { task: null, seconds: 0, outcome: 'done', run_id: null },
    ),
  insertRunMark: (db, org) => insertRunMark(db, org, mine.run, 'another'),
  settleTold: async (db, org) => settleTold(db, 'run_marks', await marked(org), { said_as: 'x', problem: null }),
  postponeTold: async (db, org) => postponeTold(db, 'run_marks', await marked(org), { seconds: 60, problem: 'x' }),
  tellAgain: (db, org) => tellAgain(db, 'run_marks', org, mine.mark),
  forgetTold: (db, org) => forgetTold(db, 'run_marks', org, mine.mark),
  getComment: (db, org) => getComment(db, org, mine.pr, mine.comment),
  findRunOfSubject: async (db, org) => (await findRunOfSubject(db, org, mine.forge, told.subject)) ?? undefined,
  findRemote: (db, org) => findRemote(db, org, mine.repo, 7),
  isHead: (db, org) => isHead(db, org, mine.repo, 'b'),
  recordRemoteDraft: (db, org) => recordRemoteDraft(db, org, mine.pr, true),
  mirrorRemote: (db, org) => mirrorRemote(db, org, mine.pr, { state: 'closed', merge_sha: null, merged_at: null }),
  resealForge: (db, org) =>
    resealForge(db, { id: mine.forge, organization_id: org, url: 'u', key_id: 'k', sealed: Buffer.from('s') }, 'new', Buffer.from('x')),
  resealWebhook: (db, org) =>
    resealWebhook(db, { organization_id: org, which: 'current', key_id: 'k', sealed: Buffer.from('s') }, 'new', Buffer.from('x')),
  resealRunTargets: (db, org) => resealRunTargets(db, { organization_id: org, id: mine.run, webhooks: '[]' }, '[1]'),
  deleteSecretsOf: (db, org) => deleteSecretsOf(db, org, mine.repo),
  listSealedSecrets: (db, org) => listSealedSecrets(db, org, mine.repo),
  listSecrets: (db, org) => listSecrets(db, org, mine.repo, 0, 100),
  saveSecret: async (db, org) => {
    await expect(saveSecret(db, { ...secret, organization_id: org, repository_id: mine.repo }, 100)).rejects.toThrow(/foreign key/)
  },
  getChange: (db, org) => getChange(db, org, mine.run),
  getCustomPrompt: async (db, org) => (await getCustomPrompt(db, org, app.user_id)) ?? undefined,
  getMember: (db, org) => getMember(db, org, app.user_id),
  repositoryOf: (db, org) => repositoryOf(db, org, 'run', mine.run),
  getPullRequest: (db, org) => getPullRequest(db, org, mine.pr),
  newestMessages: (db, org) => newestMessages(db, org, mine.run, 9),
  listAsides: (db, org) => listAsides(db, org, mine.run, 'k'),
  askApproval: (db, org) => askApproval(db, org, mine.run, 'b'),
  giveApproval: (db, org) => giveApproval(db, org, mine.run),
  findByBranch: (db, org) => findByBranch(db, org, mine.repo, 'h'),
  openHeldBack: (db, org) => openHeldBack(db, org, mine.pr, pull_request.head_sha),
  getRepository: (db, org) => getRepository(db, org, mine.repo),
  getRun: (db, org) => getRun(db, org, mine.run),
  holdRepository: (db, org) => holdRepository(db, org, mine.repo),
  lockRepository: (db, org) => lockRepository(db, org, mine.repo),
  removeRepository: (db, org) => removeRepository(db, org, mine.repo),
  updateRepository: (db, org) => updateRepository(db, org, mine.repo, { name: 'theirs', archived: true, base_branch: 'x' }),
  forgetDefaultRepository: (db, org) => forgetDefaultRepository(db, org, mine.repo),
  checkpointAt: (db, org) => checkpointAt(db, org, mine.run, 1, []),
  copyConversation: async (db, org) => {
    await copyConversation(db, org, { run_id: mine.run, seq: 1 }, other.run_id)
    await copyConversation(db, org, { run_id: other.run_id, seq: 1 }, mine.ended)
  },
  hasChangedFiles: (db, org) => hasChangedFiles(db, org, mine.run, 100, []),
  copyCheckpoint: async (db, org) => {
    expect(await copyCheckpoint(db, org, { run_id: mine.run, seq: 1 }, other.run_id)).toBe(false)
    return copyCheckpoint(db, org, { run_id: mine.run, seq: 1 }, mine.ended)
  },
  extendCheckpoint: (db, org) => extendCheckpoint(db, { organization_id: org, run_id: mine.run, epoch: mine.epoch }, 1, 3_000),
  getPack: (db, org) => getPack(db, org, mine.run, 1),
  listCheckpoints: (db, org) => listCheckpoints(db, org, mine.run, 10),
  listPacks: (db, org) => listPacks(db, org, mine.run),
  newestKeptSeq: (db, org) => newestKeptSeq(db, org, mine.run, []),
  reopenCheckpoints: (db, org) => reopenCheckpoints(db, org, mine.run, mine.epoch),
  saveCheckpoints: (_, org) =>
    saveCheckpoints(app.db, { organization_id: org, run_id: mine.run, epoch: mine.epoch }, null, [{ ...checkpoint, seq: 2 }], pack, 100),
  listChildRuns: (db, org) => listChildRuns(db, org, mine.run),
  lockLiveChildRuns: (db, org) => lockLiveChildRuns(db, org, [mine.run]),
  generationOf: async (db, org) => (await generationOf(db, org, mine_child)) > 0,
  costOfChildRuns: async (db, org) => Number(await costOfChildRuns(db, org, mine.run)) > 0,
  setRepositoryBounds: (db, org) => setRepositoryBounds(db, org, mine.run, [1]),
  countLiveRuns: async (db, org) => (await countLiveRuns(db, org, mine.repo)) > 0,
  handOverRun: (db, org) => handOverRun(db, org, mine.run, mine.epoch),
  heartbeat: (db, org) => heartbeat(db, { organization_id: org, run_id: mine.run, epoch: mine.epoch }, 60, 1_000, true),
  insertEvent: (db, org) => insertEvent(db, org, mine.run, 'agent_run.updated', {}),
  insertMessage: (db, org) => insertMessage(db, { ...message, organization_id: org, run_id: mine.run, user_id: other.user_id }),
  insertRun: async (db, org) => {
    const foreign = { ...run, organization_id: org, user_id: other.user_id, repository_id: null, parent_run_id: null }
    await expect(insertRun(db, { ...foreign, repository_id: mine.repo })).rejects.toThrow(/foreign key/)
    await expect(insertRun(db, { ...foreign, parent_run_id: mine.run })).rejects.toThrow(/foreign key/)
  },
  letBranchGo: (db, org) => letBranchGo(db, org, mine.run),
  listEntries: (db, org) => listEntries(db, org, mine.run, 1, 100),
  listEntriesAfter: (db, org) => listEntriesAfter(db, org, mine.run, 0, 100),
  findRunsAt: (db, org) => findRunsAt(db, org, mine.repo, 'b'),
  lastJudged: (db, org) => lastJudged(db, org, mine.run),
  lastOutcome: (db, org) => lastOutcome(db, org, mine.run),
  lastSetUp: (db, org) => lastSetUp(db, org, mine.run),
  listPushes: (db, org) => listPushes(db, org, mine.run),
  lastRecord: (db, org) => lastRecord(db, org, mine.run),
  listJournal: (db, org) => listJournal(db, org, mine.run),
  listSteps: (db, org) => listSteps(db, org, mine.run),
  listPullRequests: (db, org) => listPullRequests(db, org, [mine.run]),
  touchPullRequest: (db, org) => touchPullRequest(db, org, mine.pr),
  insertComment: (db, org) => insertComment(db, org, { ...comment, pull_request_id: mine.pr, user_id: app.user_id }),
  listComments: async (db, org) => (await listComments(db, org, mine.pr, 0, 100)).rows,
  lockComment: (db, org) => lockComment(db, org, mine.pr, mine.comment),
  updateComment: (db, org) => updateComment(db, org, mine.comment, 'x'),
  deleteComment: (db, org) => deleteComment(db, org, mine.comment),
  pullRequestsOfBranches: (db, org) => pullRequestsOfBranches(db, org, mine.repo, [pull_request.head_branch]),
  listRunsOfPullRequests: (db, org) => listRunsOfPullRequests(db, org, mine.run),
  lockRun: (db, org) => lockRun(db, org, mine.run),
  markMerged: (db, org) => markMerged(db, org, mine.pr, { merge_sha: 'm', head_sha: 'c' }),
  editPullRequest: (db, org) => editPullRequest(db, org, mine.pr, { from: 'open', to: 'draft' }),
  moveRun: (db, org) => moveRun(db, org, mine.run, mine.epoch, { from: ['running'], to: 'failed', status_reason: 'lost' }),
  postponeMessages: (db, org) => postponeMessages(db, org, mine.run),
  recordCheckout: (db, org) => recordCheckout(db, org, mine.run, mine.epoch, { base_ref: 'x', base_sha: 'x', branch: 'x' }),
  recordHead: (db, org) => recordHead(db, org, mine.pr, { ...counts, from_sha: 'b', head_sha: 'c' }),
  recordNextBranch: (db, org) => recordNextBranch(db, org, mine.run, mine.epoch, { base_sha: 'x', branch: 'x-2' }),
  recordStop: (db, org) => recordStop(db, org, mine.run, other.user_id),
  recordWorkspace: (db, org) => recordWorkspace(db, org, mine.run, mine.epoch, { workspace: '/x', folder_id: 'x', sandbox: null }),
  recordPause: (db, org) => recordPause(db, org, mine.run, other.user_id),
  requestPause: (db, org) => requestPause(db, org, mine.run, other.user_id),
  withdrawPause: (db, org) => withdrawPause(db, org, mine.run),
  recordTraceparent: (db, org) => recordTraceparent(db, org, mine.run, 'theirs'),
  recordPush: (db, org) => recordPush(db, org, mine.run, mine.epoch, 'h', 'b'),
  requeueRun: (db, org) => requeueRun(db, org, mine.run, { from: ['failed'], new_turn: true, deadline_seconds: 60 }),
  saveArtifact: (db, org) =>
    saveArtifact(db, org, mine.run, mine.epoch, { content_type: 'x', content: Buffer.from('x'), total_bytes: 1 }, 100),
  saveChange: (db, org) => saveChange(db, org, mine.run, mine.epoch, { ...change, patch: 'theirs' }),
  savePullRequest: async (db, org) => {
    const foreign = { ...pull_request, organization_id: org, head_branch: 'x', run_id: other.run_id, repository_id: other.repo_id }
    expect(await savePullRequest(db, { ...foreign, repository_id: mine.repo })).toBe(undefined)
    expect(await savePullRequest(db, { ...foreign, repository_id: mine.repo, head_branch: 'h' })).toBe(undefined)
    await expect(savePullRequest(db, { ...foreign, run_id: mine.run })).rejects.toThrow(/foreign key/)
  },
  setBanned: (db, org) => setBanned(db, org, mine.run, true),
  setDefaultBranch: (db, org) => setDefaultBranch(db, org, mine.repo, 'theirs'),
  setDefaultRepository: (db, org) => setDefaultRepository(db, org, mine.repo),
  takeMessages: (db, org) => takeMessages(db, org, mine.run, mine.epoch),
  updateOrganization: async (db, org) => {
    await expect(updateOrganization(db, org, { default_repository_id: mine.repo })).rejects.toThrow(/foreign key/)
  },
  updateRun: (db, org) =>
    updateRun(db, org, mine.run, { title: 'theirs', archived: true, model: 'x', tags: ['x'], budget: { max_steps: 1 } }),
  wakeRun: (db, org) => wakeRun(db, org, mine.run, 60),
  insertSandbox: (db, org) => insertSandbox(db, { organization_id: org, run_id: mine.run, epoch: mine.epoch }, sandbox),
  recordSandboxUse: (db, org) => recordSandboxUse(db, { organization_id: org, id: mine.sandbox, epoch: mine.epoch }, taken),
  endSandbox: (db, org) => endSandbox(db, { organization_id: org, id: mine.sandbox, epoch: mine.epoch }, { reason: 'stopped' }, taken),
  getSandbox: (db, org) => getSandbox(db, org, mine.sandbox),
  listSandboxes: (db, org) => listSandboxes(db, org, { agent_run_id: mine.run }, 0, 100),
  listEntriesToAnalyze: (db, org) => listEntriesToAnalyze(db, org, mine.run, { first_seq: 1, before_seq: 100, kind: null }, 100),
  knownEntries: (db, org) => knownEntries(db, org, [{ agent_run_id: mine.run, seq: 1 }]),
  sandboxesOfRuns: (db, org) => sandboxesOfRuns(db, org, [mine.run]),
  listSandboxEntries: (db, org) =>
    listSandboxEntries(db, org, { run_id: mine.run, kind: 'agent', first_seq: 1, last_seq: null }, 0, { skip: 0, limit: 100 }),
}

/** These ask for an organization's own things only: with another organization they answer that one's. */
const own_lists: Record<string, (db: Db, org: number) => Promise<unknown>> = {
  listEventsAfter: async (db, org) => (await listEventsAfter(db, org, 0, 100)).filter(event => event.run_id === mine.run),
  sumUsage: async (db, org) => (await sumUsage(db, org, '2000-01-01', '2999-01-01', 'repo')).filter(row => row.repository_id === mine.repo),
  listRuns: async (db, org) => (await listRuns(db, org, {}, 0, 100)).rows.filter(row => row.organization_id !== org),
  listRunsToAnalyze: async (db, org) => {
    const all = { repository_id: null, repository_ids: null, from: '2000-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' }
    expect((await listRunsToAnalyze(db, org, { ...all, repository_id: mine.repo }, 100)).rows).toEqual([])
    return (await listRunsToAnalyze(db, org, all, 100)).rows.filter(row => row.id === mine.run)
  },
}

/** No organization is named by these: what they are for instead. */
const without: Record<string, string> = {
  ...{
    claimRun: 'the queue of all',
    takeExpired: 'the sweep of all',
    requeueExpired: 'the sweep of all',
    wakeChecked: 'the sweep of all',
    listWaitingHeads: 'the sweep of all',
    reportWorker: 'this process',
    forgetWorker: 'this process',
    listWorkers: 'all processes',
    deleteSilentWorkers: 'the sweep of all',
    listOverdue: 'the sweep of all',
    loseSandboxes: 'the sweep of all',
    holdRetention: 'the sweep of all',
    takeTurn: 'the sweep of all',
    listExpiredRuns: 'the sweep of all',
    deleteOldDeletions: 'the sweep of all',
    listStaleWorkspaces: 'this host',
    findOwners: 'this host',
    listLeftoverWorkspaces: 'this host',
  },
  ...{
    findAccess: 'who is it',
    touchToken: 'who it was',
    chargeWindows: 'a subject of any kind',
    deleteIdleWindows: 'the sweep of all',
    deleteOldKeys: 'the sweep of all',
    batched: 'no statement',
    joined: 'no statement',
    unlessUndone: 'no statement',
    markUndone: 'no statement',
    patient: 'no statement',
    breaksConnection: 'no statement',
    isKnownToken: 'the first start',
    insertToken: 'a user',
    deleteExpiredTokens: 'the sweep of all',
    findOrInsertPerson: 'an address',
    findUser: 'the operator',
    requireMigrated: 'the schema',
    migrateWhenThere: 'the schema',
    runFigures: 'the operator',
    voidSignInLinks: 'a user',
    recordSignIn: 'a user',
    getUser: 'the caller',
    isAdminSomewhere: 'the caller',
    updateUser: 'the caller',
  },
  ...{ insertUser: 'nobody yet', insertSignInLink: 'a user', useSignInLink: 'a code', insertBrowserSession: 'a user' },
  ...{ findBrowserSession: 'a cookie', deleteBrowserSession: 'a cookie', insertOrganization: 'a new one', listOrganizations: "a user's" },
  ...{ firstOrganizationOf: "a user's", firstOrganization: 'the first start', lockFirstStart: 'the first start' },
  ...{
    migrate: 'the schema',
    listMigrations: 'the schema',
    migrateWhenThere: 'the schema',
    needsOf: 'a file',
    countSealedOtherwise: 'the start',
    secretsOfOtherKeys: 'the operator',
    forgesOfOtherKeys: 'the operator',
    findForge: 'a delivery, which is signed',
    claimForgeTasks: 'whoever does it, of all',
    claimRunMarks: 'whoever does it, of all',
    claimCommentMirrors: 'whoever does it, of all',
    listFailingForges: 'whoever tries them, of all',
    takeDueRemotes: 'whoever looks, of all',
    takeDueRepositories: 'whoever looks, of all',
    deleteOldForgeDeliveries: 'the sweep of all',
    webhooksOfOtherKeys: 'the operator',
    claimDeliveries: 'whoever sends, of all',
    expireHeld: 'the sweep of all',
    deleteOldDeliveries: 'the sweep of all',
    webhookFigures: 'the operator',
    notifyWebhook: 'a hint to all processes',
    runTargets: 'the operator',
    removedRepositories: 'the sweep of this machine',
    listEnvironmentTemplates: 'the sweep of this machine',
    forgetEnvironments: 'the sweep of this machine',
    notifyWork: 'a hint to all workers',
    only: 'no statement',
  },
}

/** The organization is the whole key here, or what is written is new: there is nothing of another one to reach. */
const whole_key: Record<string, string> = {
  ...{
    getOrganization: 'by its id',
    lastEventSeq: 'by its id',
    insertMembership: 'a new row',
    usedThisMonth: 'by its id',
    monthWithReserved: 'by its id',
    getWebhook: 'by its id',
    getSealedWebhook: 'by its id',
    listForges: 'by its id',
    saveForge: 'by its id',
    nextForgeId: 'no row',
    deleteForge: 'organization and address',
    holdEvents: 'by its id',
    wakeDeliveries: 'by its id',
    dropDeliveries: 'by its id',
    requeueFailed: 'by its id',
    recordSuccess: 'by its id',
    recordFailure: 'by its id',
    restWebhook: 'by its id',
    disableWebhook: 'by its id',
    saveWebhook: 'by its id',
    deleteWebhook: 'by its id',
    insertAuditEntry: 'a new row',
    insertServiceUser: 'a new row',
    listAuditEntries: 'by its id',
    listMemberships: 'by its id',
    lockMemberships: 'by its id',
    lockSecrets: 'by its id',
    lockEgress: 'by its id',
    countOtherAdmins: 'by its id',
    lockKey: 'organization, user and key',
    isKnownKey: 'organization, user and key',
    beginKey: 'organization, user and key',
    takeKey: 'organization, user and key',
    saveAnswer: 'organization, user and key',
    insertRepository: 'a new row, or the same URL of the same one',
  },
  ...{
    listMembers: 'by its id',
    listRepositories: 'by its id',
    notifyRun: 'a hint: both numbers are compared by who hears it',
    notifyLive: 'the same',
    notifyOwner: 'the same',
    notifyWatched: 'the same',
  },
}

test('every function of the store is in exactly one of the tables here', async () => {
  const folder = new URL('../../src/store/', import.meta.url)
  const exported: string[] = []
  for (const file of readdirSync(folder).filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))) {
    const module = (await import(new URL(file, folder).href)) as Record<string, unknown>
    exported.push(...Object.keys(module).filter(name => typeof module[name] === 'function' && !/^[A-Z]/.test(name)))
  }
  const said = [reaches, own_lists, without, whole_key].flatMap(table => Object.keys(table))
  expect(said.sort()).toEqual(exported.sort())
})

test.each(Object.keys({ ...reaches, ...own_lists }))('%s reads and changes nothing of another organization', async name => {
  const before = await contentsNow(app)
  const reach = { ...reaches, ...own_lists }[name]
  const answer = await reach?.(app.db, other.org_id).catch((error: Error) => error.message)
  if (typeof answer === 'string') expect(answer).toMatch(/foreign key/)
  else expect([undefined, false, [], { rows: [], total: 0 }]).toContainEqual(answer)
  expect(await contentsNow(app)).toEqual(before)
})

test('the same calls do reach what is ours: it is the organization that kept the others out', async () => {
  const readers = [
    ...['listChildRuns', 'lockLiveChildRuns'],
    'getArtifact',
    'getChange',
    'getCustomPrompt',
    'getCheckSuiteSettings',
    ...['getCheckCommands', 'listChecks', 'listCheckNames'],
    'getEgress',
    ...['findEnvironment', 'listEnvironments', 'getStartup', 'startupFigures'],
    'listEgressOfRun',
    'getMember',
    'getPullRequest',
    ...['findRunOfSubject', 'isHead'],
    'findByBranch',
    'findLiveTokens',
    'holdMembership',
    'listTokens',
    'ownRepositoryIds',
    'getRepository',
    'getRun',
    'listEntries',
    'listEntriesAfter',
    'lastJudged',
    'lastOutcome',
    'lastSetUp',
    'lastRecord',
    'listJournal',
    ...['listAsides', 'newestMessages'],
    'listSteps',
    'listPullRequests',
    'pullRequestsOfBranches',
    ...['getComment', 'listComments', 'lockComment'],
    'listRunsOfPullRequests',
    'lockRun',
    'lockExpiredRuns',
    ...['checkpointAt', 'listCheckpoints', 'newestKeptSeq', 'listPacks', 'getPack'],
    ...['getDelivery', 'listAttempts', 'listDeliveries'],
  ]
  for (const name of readers) {
    const answer = await reaches[name]?.(app.db, app.org_id)
    expect({ name, found: Array.isArray(answer) ? answer.length > 0 : answer !== undefined }).toEqual({ name, found: true })
  }
  const writers = [
    ...['extendCheckpoint', 'reopenCheckpoints', 'saveCheckpoints', 'copyCheckpoint'],
    ...['settleDelivery', 'scheduleNext', 'requeueDelivery', 'insertDeliveries'],
    ...[
      'resealForge',
      'recordRemote',
      'recordRemoteDraft',
      'insertForgeDelivery',
      'settleForgeTask',
      'recordForgeProblem',
      'recordForgeUse',
      'recordForgeIdentity',
    ],
    ...['insertRunMark', 'tellAgain', 'settleTold', 'postponeTold', 'forgetTold'],
    'insertMessage',
    'takeMessages',
    'append',
    'updateRun',
    'heartbeat',
    'saveArtifact',
    'saveChange',
    'saveCheck',
    'recordWorkspace',
    'recordPush',
    'recordStop',
    'setBanned',
    'forgetLeftoverWorkspace',
    'deleteFirstEntries',
    'deleteEndedRuns',
    'detachPullRequests',
    'letBranchGo',
    'setDefaultBranch',
    'setSetupStatus',
    'recordNextBranch',
    ...['openHeldBack', 'recordHead', 'addMergeAttempt', 'dropMergeAttempt', 'editPullRequest', 'mirrorRemote', 'markMerged'],
    ...['askApproval', 'setRepositoryBounds'],
    ...['touchPullRequest', 'insertComment', 'updateComment', 'deleteComment'],
  ]
  for (const name of [...writers, 'moveRun', 'requeueRun', 'setRole', 'revokeTokensOf', 'deleteMembership']) {
    const before = await contentsNow(app)
    await reaches[name]?.(app.db, app.org_id)
    expect({ name, changed: JSON.stringify(await contentsNow(app)) !== JSON.stringify(before) }).toEqual({ name, changed: true })
  }
})
