import { expect } from 'vitest'
import { abandonBranch, getChange, recordPush, saveChange } from '../../../src/store/changes.ts'
import {
  findRunOfSubject,
  insertForgeDelivery,
  settleForgeTask,
} from '../../../src/store/forges/forge-deliveries.ts'
import { deleteGaps, listRepositoryGaps, recordGaps } from '../../../src/store/forges/forge-gaps.ts'
import { recordForgeIdentity, recordForgeProblem, recordForgeUse } from '../../../src/store/forges/forges.ts'
import {
  deleteOutboxItem,
  postponeOutboxItem,
  repostOutboxItem,
  settleOutboxItem,
} from '../../../src/store/forges/outbox.ts'
import { insertRunMark } from '../../../src/store/forges/run-marks.ts'
import {
  deleteComment,
  getComment,
  insertComment,
  listComments,
  lockComment,
  updateComment,
} from '../../../src/store/pull-requests/pull-request-comments.ts'
import {
  addMergeAttempt,
  closeGone,
  dropMergeAttempt,
  editPullRequest,
  markMerged,
  openHeldBack,
  recordHead,
  recordReview,
  touchPullRequest,
} from '../../../src/store/pull-requests/pull-request-moves.ts'
import {
  detachPullRequests,
  findByBranch,
  findPullRequests,
  getPullRequest,
  listPullRequests,
  pullRequestsOfBranches,
  savePullRequest,
} from '../../../src/store/pull-requests/pull-requests.ts'
import {
  findRemote,
  isBranchOfRun,
  isHead,
  mirrorRemote,
  recordRemote,
  recordRemoteDraft,
  recordSeenUntil,
} from '../../../src/store/pull-requests/remote-pull-requests.ts'
import { listRunsOfPullRequests, setBanned } from '../../../src/store/runs/bans.ts'
import type { Ours, Reaches } from './ours.ts'
import { change, comment, counts, forge_delivery, pull_request } from './samples.ts'

/**
 * Pull requests, their comments, changes, and forge events: the other organization (`org`) accessing ours.
 */
export const reachesOfPullRequests = ({ app, mine, other, claimed }: Ours): Reaches => ({
  addMergeAttempt: (db, org) => addMergeAttempt(db, org, mine.pr, 'm'),
  dropMergeAttempt: (db, org) => dropMergeAttempt(db, org, mine.pr, 'm'),
  closeGone: (db, org) => closeGone(db, org, mine.pr, pull_request.head_sha),
  detachPullRequests: (db, org) => detachPullRequests(db, org, [mine.run]),
  findPullRequests: (db, org) =>
    findPullRequests(db, org, { agent_run_id: [mine.run], repository_ids: null }, { skip: 0, limit: 100 }),
  recordRemote: (db, org) => recordRemote(db, org, mine.pr, { number: 7, url: 'u', state: 'open' }),
  recordGaps: async (db, org) => {
    const key = { organization_id: org, forge_id: mine.forge, repository_id: mine.repo }
    await recordGaps(db, key, ['check_runs', 'issues'], [{ resource: 'issues', detail: 'another' }])
  },
  listRepositoryGaps: (db, org) => listRepositoryGaps(db, org, [mine.repo]),
  deleteGaps: (db, org) => deleteGaps(db, org, mine.forge),
  recordForgeUse: (db, org) => recordForgeUse(db, org, mine.forge),
  recordForgeProblem: (db, org) => recordForgeProblem(db, org, mine.forge, 'away'),
  recordForgeIdentity: (db, org) => recordForgeIdentity(db, org, mine.forge, { login: 'agent', app: null }),
  insertForgeDelivery: (db, org) =>
    insertForgeDelivery(db, {
      ...forge_delivery,
      organization_id: org,
      forge_id: mine.forge,
      delivery: 'another',
    }),
  settleForgeTask: (db, org) =>
    settleForgeTask(
      db,
      { organization_id: org, forge_id: mine.forge, delivery: forge_delivery.delivery, epoch: 1 },
      { task: null, seconds: 0, outcome: 'done', run_id: null },
    ),
  insertRunMark: (db, org) => insertRunMark(db, org, mine.run, 'another'),
  settleOutboxItem: (db, org) =>
    settleOutboxItem(db, 'run_marks', claimed(org, mine.mark), { posted: 'x', problem: null }),
  postponeOutboxItem: (db, org) =>
    postponeOutboxItem(db, 'run_marks', claimed(org, mine.postponed), { seconds: 60, problem: 'x' }),
  repostOutboxItem: (db, org) => repostOutboxItem(db, 'run_marks', org, mine.mark),
  deleteOutboxItem: (db, org) => deleteOutboxItem(db, 'run_marks', org, mine.mark),
  getComment: (db, org) => getComment(db, org, mine.pr, mine.comment),
  findRunOfSubject: async (db, org) =>
    (await findRunOfSubject(db, org, mine.forge, forge_delivery.subject)) ?? undefined,
  findRemote: (db, org) => findRemote(db, org, mine.repo, 7),
  isBranchOfRun: (db, org) => isBranchOfRun(db, org, mine.repo, 'h'),
  isHead: (db, org) => isHead(db, org, mine.repo, 'b'),
  recordSeenUntil: (db, org) => recordSeenUntil(db, org, mine.repo, { from: null, until: new Date(0) }),
  recordReview: (db, org) => recordReview(db, org, mine.pr, { head_sha: 'b', verdict: 'pass' }),
  recordRemoteDraft: (db, org) => recordRemoteDraft(db, org, mine.pr, true),
  mirrorRemote: (db, org) =>
    mirrorRemote(db, org, mine.pr, { state: 'closed', merge_sha: null, merged_at: null }),
  getChange: (db, org) => getChange(db, org, mine.run),
  getPullRequest: (db, org) => getPullRequest(db, org, mine.pr),
  findByBranch: (db, org) => findByBranch(db, org, mine.repo, 'h'),
  openHeldBack: (db, org) => openHeldBack(db, org, mine.pr, pull_request.head_sha),
  abandonBranch: (db, org) => abandonBranch(db, org, mine.run),
  listPullRequests: (db, org) => listPullRequests(db, org, [mine.run]),
  touchPullRequest: (db, org) => touchPullRequest(db, org, mine.pr),
  insertComment: (db, org) =>
    insertComment(db, org, { ...comment, pull_request_id: mine.pr, user_id: app.user_id }),
  listComments: async (db, org) => (await listComments(db, org, mine.pr, { skip: 0, limit: 100 })).rows,
  lockComment: (db, org) => lockComment(db, org, mine.pr, mine.comment),
  updateComment: (db, org) => updateComment(db, org, mine.comment, 'x'),
  deleteComment: (db, org) => deleteComment(db, org, mine.comment),
  pullRequestsOfBranches: (db, org) => pullRequestsOfBranches(db, org, mine.repo, [pull_request.head_branch]),
  listRunsOfPullRequests: (db, org) => listRunsOfPullRequests(db, org, mine.run),
  markMerged: (db, org) => markMerged(db, org, mine.pr, { merge_sha: 'm', head_sha: 'c' }),
  editPullRequest: (db, org) => editPullRequest(db, org, mine.pr, { from: 'open', to: 'draft' }),
  recordHead: (db, org) => recordHead(db, org, mine.pr, { ...counts, from_sha: 'b', head_sha: 'c' }),
  recordPush: (db, org) => recordPush(db, org, mine.run, mine.epoch, { branch: 'h', sha: 'b' }),
  saveChange: (db, org) => saveChange(db, org, mine.run, mine.epoch, { ...change, patch: 'theirs' }),
  savePullRequest: async (db, org) => {
    const foreign = {
      ...pull_request,
      organization_id: org,
      head_branch: 'x',
      run_id: other.run_id,
      repository_id: other.repo_id,
    }
    expect(await savePullRequest(db, { ...foreign, repository_id: mine.repo })).toBe(undefined)
    expect(await savePullRequest(db, { ...foreign, repository_id: mine.repo, head_branch: 'h' })).toBe(
      undefined,
    )
    await expect(savePullRequest(db, { ...foreign, run_id: mine.run })).rejects.toThrow(/foreign key/)
  },
  setBanned: (db, org) => setBanned(db, org, mine.run, true),
})
