import type { Transactional } from '../../src/store/database.ts'
import { claimRun } from '../../src/store/leases/claims.ts'
import { heartbeat, listAbandoned, listOverdue, lockExpired } from '../../src/store/leases/leases.ts'
import { findPullRequests } from '../../src/store/pull-requests/pull-requests.ts'
import { listEntries } from '../../src/store/runs/log-entries.ts'
import { listExpiredRuns } from '../../src/store/runs/retention.ts'
import { runMetrics } from '../../src/store/runs/run-metrics.ts'
import { getRun, listRuns } from '../../src/store/runs/runs.ts'
import { listSandboxes, loseSandboxes } from '../../src/store/workspaces/sandboxes.ts'
import type { FilledDatabase } from './fill-database.ts'
import { searched } from './words.ts'

export type Work = (db: Transactional) => Promise<unknown>

const FIRST = { skip: 0, limit: 100 }
const lease = { owner: 'a worker', seconds: 5, turn_seconds: 600 }
const sweep = { late_seconds: 0, limit: 100, folder_id: null, owner: null }

/** The lists of runs, pull requests and sandboxes, with each filter, at their first page and deep inside. */
export function lists({
  organization_id: org,
  user_id,
  repository_id,
  runs,
}: FilledDatabase): Record<string, Work> {
  const middle = {
    skip: Math.floor(runs / 3),
    limit: 100,
    from: { key: Math.floor(runs / 2), backward: false },
  }
  const before = { ...middle, from: { ...middle.from, backward: true } }
  const minutes = (part: number) => new Date(Date.now() - part * runs * 60_000).toISOString()
  const filtered =
    (filter: Parameters<typeof listRuns>[2], window: Parameters<typeof listRuns>[3] = FIRST): Work =>
    db =>
      listRuns(db, org, filter, window)
  const status = (...statuses: ('completed' | 'failed' | 'running' | 'queued')[]) => ({
    status: [{ statuses, except: [] }],
  })
  return {
    'runs, first page': filtered({}),
    'runs, deep page by cursor': filtered({}, middle),
    'runs, page before a cursor': filtered({}, before),
    'runs, deep page of a filter': filtered(status('failed'), middle),
    'runs, a common status': filtered(status('completed')),
    'runs, a rare status': filtered(status('running')),
    'runs, two statuses': filtered({ status: [{ statuses: ['running', 'queued'], except: [] }] }),
    'runs, a status with exceptions': filtered({ status: [{ statuses: ['failed'], except: ['timeout'] }] }),
    'runs, archived': filtered({ archived: true }),
    'runs, failure reason': filtered({ status_reason: ['timeout'] }),
    'runs, of a week in the middle': filtered({
      created_after: minutes(0.5),
      created_before: new Date(Date.parse(minutes(0.5)) + 604_800_000).toISOString(),
    }),
    'runs, before a day': filtered({ created_before: minutes(0.6) }),
    'runs, person': filtered({ user_id: [user_id + 20] }),
    'runs, model': filtered({ model: ['provider/model-17'] }),
    'runs, source': filtered({ source_type: ['SLACK'] }),
    'runs, repository': filtered({ repo_id: [repository_id] }),
    'runs, two repositories': filtered({ repo_id: [repository_id, repository_id + 7] }),
    'runs, tag': filtered({ tag: ['team-7'] }),
    'runs, repository and status': filtered({ repo_id: [repository_id], ...status('failed') }),
    'runs, a common word': filtered({ q: searched.common }),
    'runs, a rare word': filtered({ q: searched.rare }),
    'runs, a word of none': filtered({ q: searched.none }),
    'runs, related': filtered({ related_to: Math.floor(runs / 2), archived: null }),
    'pull requests, first page': db => findPullRequests(db, org, { repository_ids: null }, FIRST),
    'pull requests, deep page by cursor': db => findPullRequests(db, org, { repository_ids: null }, middle),
    'pull requests, open': db => findPullRequests(db, org, { repository_ids: null, state: ['open'] }, FIRST),
    'pull requests, repository': db =>
      findPullRequests(db, org, { repository_ids: null, repo_id: [repository_id] }, FIRST),
    'sandboxes, first page': db => listSandboxes(db, org, {}, FIRST),
    'sandboxes, deep page by cursor': db => listSandboxes(db, org, {}, middle),
  }
}

/** What each process does all the time, whether or not there is work, and the reads of one run. */
export function routine({
  organization_id: org,
  long_run_id,
  live_run_id,
  runs,
}: FilledDatabase): Record<string, Work> {
  return {
    claim: db => claimRun(db, lease),
    heartbeat: async db => {
      const row = await heartbeat(
        db,
        { organization_id: org, run_id: live_run_id, epoch: 1, worked_ms: 0, progressed: true },
        5,
      )
      if (row === undefined) throw new Error('the lease was not renewed')
    },
    'sweep: expired leases': db => lockExpired(db, sweep),
    'sweep: overdue': db => listOverdue(db, 100),
    'sweep: abandoned recordings': db => listAbandoned(db, 100),
    'sweep: lost sandboxes': db => loseSandboxes(db),
    'sweep: retention': db => listExpiredRuns(db, 100_000, 100),
    'metrics of the queue': db => runMetrics(db),
    'a run': db => getRun(db, org, Math.floor(runs / 2)),
    'trace, last page': db => listEntries(db, org, long_run_id, 19_901, 20_000),
    'trace, page in the middle': db => listEntries(db, org, long_run_id, 10_000, 10_099),
  }
}
