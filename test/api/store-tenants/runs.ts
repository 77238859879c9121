import { expect } from 'vitest'
import { digest } from '../../../src/core/access/token.ts'
import { sharedPots } from '../../../src/store/access/shared-pots.ts'
import { joined } from '../../../src/store/database.ts'
import { heartbeat, heartbeats } from '../../../src/store/leases/leases.ts'
import { recordStall } from '../../../src/store/leases/stalls.ts'
import { recordApproval, requestApproval, takeApproval } from '../../../src/store/pull-requests/approvals.ts'
import { append } from '../../../src/store/runs/append.ts'
import { getArtifact, saveArtifact } from '../../../src/store/runs/artifacts.ts'
import { changeRun, reportRun } from '../../../src/store/runs/change-run.ts'
import {
  costOfChildRuns,
  generationOf,
  listChildRuns,
  lockRunsAndLiveBelow,
  setRepositoryBounds,
} from '../../../src/store/runs/child-runs.ts'
import { forgetLeftoverWorkspace } from '../../../src/store/runs/deletions.ts'
import { beginFollowUp, requestResume } from '../../../src/store/runs/follow-ups.ts'
import { copyConversation, hasChangedFiles } from '../../../src/store/runs/forks.ts'
import {
  entriesOfCalls,
  findLatestEvaluation,
  lastOutcome,
  lastRecord,
  lastSetUp,
  listAsides,
  listFailedSetUp,
  listJournal,
  listPushes,
  listSteps,
  newestMessages,
  sumCosts,
  toolOutputsAt,
} from '../../../src/store/runs/journal.ts'
import { knownEntries, listEntriesToAnalyze } from '../../../src/store/runs/log-analysis.ts'
import {
  countKinds,
  entriesBySeq,
  findEntries,
  listEntries,
  listEntriesAfter,
  listPlans,
  searchEntries,
  searchRange,
} from '../../../src/store/runs/log-entries.ts'
import {
  insertMessage,
  listMessageImages,
  postponeMessages,
  takeMessages,
} from '../../../src/store/runs/messages.ts'
import { requestPause, withdrawPause } from '../../../src/store/runs/pauses.ts'
import { getRecording, saveRecording } from '../../../src/store/runs/recorded-sessions.ts'
import { deleteEndedRuns, deleteFirstEntries, lockExpiredRuns } from '../../../src/store/runs/retention.ts'
import { recordTraceparent, updateRun } from '../../../src/store/runs/run-changes.ts'
import { findRunAccess } from '../../../src/store/runs/run-heads.ts'
import { countLiveRuns, getRun, insertRun, lockRun } from '../../../src/store/runs/runs.ts'
import { listSandboxEntries } from '../../../src/store/runs/sandbox-entries.ts'
import { copyCheckpoint, getPack, listPacks } from '../../../src/store/workspaces/checkpoint-packs.ts'
import {
  actionsBetween,
  checkpointAt,
  extendCheckpoint,
  listCheckpoints,
  newestKeptSeq,
  reopenCheckpoints,
  saveCheckpoints,
  statesSince,
} from '../../../src/store/workspaces/checkpoints.ts'
import {
  endSandbox,
  getSandbox,
  insertSandbox,
  listSandboxes,
  recordSandboxUse,
  sandboxesOfRuns,
} from '../../../src/store/workspaces/sandboxes.ts'
import {
  forgetWorkspace,
  recordCheckout,
  recordNextBranch,
  recordWorkspace,
} from '../../../src/store/workspaces/workspaces.ts'
import { entry } from '../../../src/trace/entry.ts'
import { TOKEN } from '../../start-app.ts'
import type { Ours, Reaches } from './ours.ts'
import { checkpoint, message, pack, run, sandbox, taken } from './samples.ts'

/** Runs, their traces, checkpoints and sandboxes: the other organization (`org`) accessing ours. */
const beat = { worked_ms: 1_000, progressed: true }

export const reachesOfRuns = ({ app, mine, other }: Ours): Reaches => ({
  append: (db, org) => append(db, org, mine.run, mine.epoch, { entries: [entry({ message_type: 'ERROR' })] }),
  findEntries: (db, org) => findEntries(db, org, mine.run, {}, { skip: 0, limit: 100, reverse: false }),
  searchEntries: (db, org) =>
    searchEntries(joined(db), org, mine.run, { q: 'x' }, { skip: 0, limit: 100, reverse: false }),
  searchRange: (db, org) =>
    searchRange(joined(db), [org, mine.run], { q: 'x' }, { after: 0, to: 100, limit: 100 }),
  countKinds: (db, org) => countKinds(db, org, mine.run, [1]),
  sumCosts: (db, org) => sumCosts(db, org, mine.run, [1]),
  listPlans: (db, org) => listPlans(db, org, mine.run, 10),
  entriesBySeq: (db, org) => entriesBySeq(db, org, mine.run, [1, 2]),
  deleteEndedRuns: async (db, org) => (await deleteEndedRuns(db, org, [mine.expired], null)) > 0,
  deleteFirstEntries: async (db, org) => (await deleteFirstEntries(db, org, mine.expired, 100)) > 0,
  lockExpiredRuns: (db, org) => lockExpiredRuns(db, org, [mine.expired], 0),
  forgetLeftoverWorkspace: (db, org) => forgetLeftoverWorkspace(db, org, mine.ended),
  forgetWorkspace: (db, org) => forgetWorkspace(db, org, mine.run, '/w'),
  // The token is one of the organization that asks: only the run must not be found.
  findRunAccess: async (db, org) => {
    const [found] = await findRunAccess(db, [
      { digest: digest(TOKEN), organization_id: org, run_id: mine.run },
    ])
    expect(found?.access).toBeDefined()
    return found?.head ?? undefined
  },
  getArtifact: (db, org) => getArtifact(db, org, mine.artifact),
  toolOutputsAt: (db, org) => toolOutputsAt(db, org, mine.run, 1),
  newestMessages: (db, org) => newestMessages(db, org, mine.run, 9),
  listAsides: (db, org) => listAsides(db, org, mine.run, 'k'),
  requestApproval: (db, org) => requestApproval(db, org, mine.run, 'b'),
  takeApproval: (db, org) =>
    takeApproval(db, { organization_id: org, run_id: mine.run, epoch: 1, approved: 'abc' }),
  recordApproval: (db, org) => recordApproval(db, org, mine.run),
  getRun: (db, org) => getRun(db, org, mine.run),
  actionsBetween: (db, org) =>
    actionsBetween(db, [org, mine.run], { after: 0, through: 100, tools_without_effect: [], limit: 9 }),
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
  extendCheckpoint: (db, org) =>
    extendCheckpoint(db, { organization_id: org, run_id: mine.run, epoch: mine.epoch }, 1, 3_000),
  getPack: (db, org) => getPack(db, org, mine.run, 1),
  listCheckpoints: (db, org) => listCheckpoints(db, org, mine.run, 10),
  statesSince: (db, org) => statesSince(db, [org, mine.run], new Date(0)),
  listPacks: (db, org) => listPacks(db, org, mine.run),
  newestKeptSeq: (db, org) => newestKeptSeq(db, org, mine.run, []),
  reopenCheckpoints: (db, org) => reopenCheckpoints(db, org, mine.run, mine.epoch),
  saveCheckpoints: (_, org) =>
    saveCheckpoints(
      app.db,
      { organization_id: org, run_id: mine.run, epoch: mine.epoch },
      {
        base_sha: null,
        checkpoints: [{ ...checkpoint, seq: 2 }],
        pack,
        max_bytes: 100,
      },
    ),
  listChildRuns: (db, org) => listChildRuns(db, org, mine.run),
  lockRunsAndLiveBelow: (db, org) => lockRunsAndLiveBelow(db, org, [mine.run]),
  getRecording: (db, org) => getRecording(db, org, mine.recorded),
  saveRecording: (db, org) =>
    saveRecording(
      db,
      org,
      mine.recorded,
      { open_calls: [], answer: 'x' },
      { prompt: 'x', title: 'x', model: 'x', result: 'x' },
    ),
  generationOf: async (db, org) => (await generationOf(db, org, mine.child)) > 0,
  costOfChildRuns: async (db, org) => Number(await costOfChildRuns(db, org, mine.run)) > 0,
  sharedPots: (db, org) => sharedPots(db, org, mine.run, 'all'),
  setRepositoryBounds: (db, org) => setRepositoryBounds(db, org, mine.run, [1]),
  countLiveRuns: async (db, org) => (await countLiveRuns(db, org, mine.repo)) > 0,
  heartbeat: (db, org) =>
    heartbeat(db, { ...beat, organization_id: org, run_id: mine.run, epoch: mine.epoch }, 60),
  heartbeats: async (db, org) =>
    (await heartbeats(db, [{ ...beat, organization_id: org, run_id: mine.run, epoch: mine.epoch }], 60))[0],
  recordStall: async (db, org) =>
    (await recordStall(db, [{ organization_id: org, run_id: mine.run, epoch: mine.epoch, in_hand: true }])) >
    0,
  listMessageImages: (db, org) => listMessageImages(db, org, mine.run, mine.image_seq),
  insertMessage: (db, org) =>
    insertMessage(db, { ...message, organization_id: org, run_id: mine.run, user_id: other.user_id }),
  insertRun: async (db, org) => {
    const foreign = {
      ...run,
      organization_id: org,
      user_id: other.user_id,
      repository_id: null,
      parent_run_id: null,
    }
    await expect(insertRun(db, { ...foreign, repository_id: mine.repo })).rejects.toThrow(/foreign key/)
    await expect(insertRun(db, { ...foreign, parent_run_id: mine.run })).rejects.toThrow(/foreign key/)
  },
  listEntries: (db, org) => listEntries(db, org, mine.run, 1, 100),
  listEntriesAfter: (db, org) => listEntriesAfter(db, org, mine.run, 0, 100),
  findLatestEvaluation: (db, org) => findLatestEvaluation(db, org, mine.run),
  entriesOfCalls: (db, org) => entriesOfCalls(db, org, mine.run, 'call_1', 'call_1'),
  lastOutcome: (db, org) => lastOutcome(db, org, mine.run),
  lastSetUp: (db, org) => lastSetUp(db, org, mine.run),
  listFailedSetUp: (db, org) => listFailedSetUp(db, org, mine.run),
  listPushes: (db, org) => listPushes(db, org, mine.run),
  lastRecord: (db, org) => lastRecord(db, org, mine.run),
  listJournal: (db, org) => listJournal(db, org, mine.run),
  listSteps: (db, org) => listSteps(db, org, mine.run),
  lockRun: (db, org) => lockRun(db, org, mine.run),
  changeRun: (db, org) =>
    changeRun(
      db,
      { organization_id: org, id: mine.run },
      { from: ['running'], to: 'failed', because: 'lost', epoch: mine.epoch },
    ),
  reportRun: (db, org) =>
    reportRun(db, { organization_id: org, id: mine.run }, { entries: [entry({ message_type: 'ERROR' })] }),
  postponeMessages: (db, org) => postponeMessages(db, org, mine.run),
  recordCheckout: (db, org) =>
    recordCheckout(db, org, mine.run, mine.epoch, { base_ref: 'x', base_sha: 'x', branch: 'x' }),
  recordNextBranch: (db, org) =>
    recordNextBranch(db, org, mine.run, mine.epoch, { base_sha: 'x', branch: 'x-2' }),
  recordWorkspace: (db, org) =>
    recordWorkspace(db, org, mine.run, mine.epoch, { workspace: '/x', folder_id: 'x', sandbox: null }),
  requestPause: (db, org) => requestPause(db, org, mine.run, other.user_id),
  withdrawPause: (db, org) => withdrawPause(db, org, mine.run),
  recordTraceparent: (db, org) => recordTraceparent(db, org, mine.run, 'theirs'),
  requestResume: (db, org) => requestResume(db, org, mine.run, true),
  beginFollowUp: (db, org) => beginFollowUp(db, { organization_id: org, id: mine.run }, 60),
  saveArtifact: (db, org) =>
    saveArtifact(db, org, mine.run, mine.epoch, {
      content_type: 'x',
      content: Buffer.from('x'),
      total_bytes: 1,
      max_bytes: 100,
    }),
  takeMessages: (db, org) => takeMessages(db, org, mine.run, mine.epoch),
  updateRun: (db, org) =>
    updateRun(db, org, mine.run, {
      title: 'theirs',
      archived: true,
      model: 'x',
      tags: ['x'],
      budget: { max_steps: 1 },
    }),
  insertSandbox: (db, org) =>
    insertSandbox(db, { organization_id: org, run_id: mine.run, epoch: mine.epoch }, sandbox),
  recordSandboxUse: (db, org) =>
    recordSandboxUse(db, { organization_id: org, id: mine.sandbox, epoch: mine.epoch }, taken),
  endSandbox: (db, org) =>
    endSandbox(
      db,
      { organization_id: org, id: mine.sandbox, epoch: mine.epoch },
      { reason: 'stopped' },
      taken,
    ),
  getSandbox: (db, org) => getSandbox(db, org, mine.sandbox),
  listSandboxes: (db, org) => listSandboxes(db, org, { agent_run_id: [mine.run] }, { skip: 0, limit: 100 }),
  listEntriesToAnalyze: (db, org) =>
    listEntriesToAnalyze(db, org, mine.run, { first_seq: 1, before_seq: 100, kind: null }, 100),
  knownEntries: (db, org) => knownEntries(db, org, [{ agent_run_id: mine.run, seq: 1 }]),
  sandboxesOfRuns: (db, org) => sandboxesOfRuns(db, org, [mine.run]),
  listSandboxEntries: (db, org) =>
    listSandboxEntries(db, org, { run_id: mine.run, kind: 'agent', first_seq: 1, last_seq: null }, 0, {
      skip: 0,
      limit: 100,
    }),
})
