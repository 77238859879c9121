import { readdirSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { listSecretsAndMcpServers } from '../../../src/store/access/mcp-servers.ts'
import { sumProposed, sumUsage } from '../../../src/store/access/usage-days.ts'
import { listRunsToAnalyze } from '../../../src/store/runs/log-analysis.ts'
import { listEventsAfter } from '../../../src/store/runs/organization-events.ts'
import { listRuns } from '../../../src/store/runs/runs.ts'
import { startApp } from '../../start-app.ts'
import { contentsNow } from '../contents.ts'
import { whole_key, without } from '../store-tenants/exempt.ts'
import { reachesOfOrganizations } from '../store-tenants/organizations.ts'
import { addOurs, type Reaches } from '../store-tenants/ours.ts'
import { reachesOfPullRequests } from '../store-tenants/pull-requests.ts'
import { reachesOfRepositories } from '../store-tenants/repositories.ts'
import { reachesOfRuns } from '../store-tenants/runs.ts'

const app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
afterAll(() => app[Symbol.asyncDispose]())
const ours = await addOurs(app)
const { mine, other } = ours

/** Every function with an organization, called by the other organization (`org`) for our objects. */
const reaches: Reaches = {
  ...reachesOfOrganizations(ours),
  ...reachesOfRepositories(ours),
  ...reachesOfPullRequests(ours),
  ...reachesOfRuns(ours),
}

const all_days = { from: '2000-01-01', to: '2999-01-01' }

/** These read only objects of the given organization: with another organization they return that one's. */
const own_lists: Reaches = {
  listEventsAfter: async (db, org) =>
    (await listEventsAfter(db, org, 0, 100)).filter(event => event.run_id === mine.run),
  sumUsage: async (db, org) =>
    (await sumUsage(db, org, all_days, 'repo')).filter(row => row.repository_id === mine.repo),
  sumProposed: async (db, org) =>
    (await sumProposed(db, org, all_days, 'repo')).filter(row => row.repository_id === mine.repo),
  listSecretsAndMcpServers: async (db, org) => {
    const { secrets, servers } = await listSecretsAndMcpServers(db, org, mine.repo)
    return [...secrets, ...servers.filter(({ repository_id }) => repository_id !== null)]
  },
  listRuns: async (db, org) =>
    (await listRuns(db, org, {}, { skip: 0, limit: 100 })).rows.filter(row => row.organization_id !== org),
  listRunsToAnalyze: async (db, org) => {
    const all = {
      repository_id: null,
      repository_ids: null,
      from: '2000-01-01T00:00:00Z',
      to: '2999-01-01T00:00:00Z',
    }
    expect((await listRunsToAnalyze(db, org, { ...all, repository_id: mine.repo }, 100)).rows).toEqual([])
    return (await listRunsToAnalyze(db, org, all, 100)).rows.filter(row => row.id === mine.run)
  },
}

test('every function of the store is in exactly one of the tables here', async () => {
  const folder = new URL('../../../src/store/', import.meta.url)
  const exported: string[] = []
  for (const file of readdirSync(folder, { encoding: 'utf8', recursive: true }).filter(
    name => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  )) {
    const module = (await import(new URL(file, folder).href)) as Record<string, unknown>
    exported.push(
      ...Object.keys(module).filter(name => typeof module[name] === 'function' && !/^[A-Z]/.test(name)),
    )
  }
  const text = [reaches, own_lists, without, whole_key].flatMap(table => Object.keys(table))
  expect(text.sort()).toEqual(exported.sort())
})

test.each(Object.keys({ ...reaches, ...own_lists }))(
  '%s reads and changes nothing of another organization',
  async name => {
    const before = await contentsNow(app)
    const reach = { ...reaches, ...own_lists }[name]
    const response = await reach?.(app.db, other.org_id).catch((error: Error) => error.message)
    if (typeof response === 'string') expect(response).toMatch(/foreign key/)
    else expect([undefined, false, [], { rows: [], total: 0 }]).toContainEqual(response)
    expect(await contentsNow(app)).toEqual(before)
  },
)

test('the same calls reach our objects: only the organization prevented the other calls', async () => {
  const readers = [
    ...['listChildRuns', 'lockRunsAndLiveBelow'],
    ...['getArtifact', 'getRecording'],
    'getChange',
    'getCustomPrompt',
    'getCheckSuiteSettings',
    ...['getCheckCommands', 'listChecks', 'listCheckStates', 'listCheckNames', 'listRepositoryGaps'],
    'getEgress',
    ...['findEnvironment', 'listEnvironments', 'getStartup', 'startupMetrics'],
    'listEgressOfRun',
    'getMember',
    'getPullRequest',
    ...['findRunOfSubject', 'isBranchOfRun', 'isHead'],
    'findByBranch',
    'findLiveTokens',
    'holdMembership',
    'listTokens',
    'ownRepositoryIds',
    'getRepository',
    'getRun',
    'listEntries',
    'listEntriesAfter',
    'findLatestEvaluation',
    ...['entriesOfCalls', 'lastOutcome'],
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
    'sharedPots',
    'lockExpiredRuns',
    ...['checkpointAt', 'listCheckpoints', 'newestKeptSeq', 'listPacks', 'getPack'],
    ...['getDelivery', 'listAttempts', 'listDeliveries'],
  ]
  for (const name of readers) {
    const response = await reaches[name]?.(app.db, app.org_id)
    expect({ name, found: Array.isArray(response) ? response.length > 0 : response !== undefined }).toEqual({
      name,
      found: true,
    })
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
    ...['insertRunMark', 'repostOutboxItem', 'settleOutboxItem', 'postponeOutboxItem', 'deleteOutboxItem'],
    'insertMessage',
    'takeMessages',
    'append',
    'updateRun',
    'heartbeat',
    ...['saveArtifact', 'saveRecording'],
    'saveChange',
    'saveCheck',
    'recordWorkspace',
    'recordPush',
    'setBanned',
    'forgetLeftoverWorkspace',
    'deleteFirstEntries',
    'deleteEndedRuns',
    'detachPullRequests',
    'abandonBranch',
    'setDefaultBranch',
    'setSetupStatus',
    'recordNextBranch',
    ...[
      'openHeldBack',
      'recordHead',
      'addMergeAttempt',
      'dropMergeAttempt',
      'editPullRequest',
      'mirrorRemote',
      'markMerged',
    ],
    ...['requestApproval', 'setRepositoryBounds'],
    ...['touchPullRequest', 'insertComment', 'updateComment', 'deleteComment'],
  ]
  // Its writes are excluded from the contents, because polls of the service write it too.
  expect(await reaches.recordSeenUntil?.(app.db, app.org_id)).toBe(true)
  for (const name of [...writers, 'changeRun', 'setRole', 'revokeTokensOf', 'deleteMembership']) {
    const before = await contentsNow(app)
    await reaches[name]?.(app.db, app.org_id)
    expect({ name, changed: JSON.stringify(await contentsNow(app)) !== JSON.stringify(before) }).toEqual({
      name,
      changed: true,
    })
  }
})
