import type { AgentRun } from '../../contract/runs/runs.ts'
import { abandonBranch } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { detachPullRequests } from '../../store/pull-requests/pull-requests.ts'
import { listRunsOfPullRequests, setBanned } from '../../store/runs/bans.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { getRun, runNotFound } from './runs.ts'
import { lockLines, stopLockedRuns } from './stop-run.ts'

/**
 * Stops and bans a run and every other run of its pull requests: neither a resume (409) nor a check starts
 * them until the ban is lifted. A banned run stays unchanged.
 */
export const banRun = (ctx: Context, run_id: number): Promise<AgentRun> =>
  withRunsOfPullRequests(ctx, run_id, async (tx, runs, lines) => {
    await stopLockedRuns(tx, ctx, lines)
    await mark(tx, ctx, runs, true)
  })

/** Lifts the ban. The runs keep their status; a resume may start them again. */
export const unbanRun = (ctx: Context, run_id: number): Promise<AgentRun> =>
  withRunsOfPullRequests(ctx, run_id, (tx, runs) => mark(tx, ctx, runs, false))

/**
 * Stops a run and every other run of its pull requests, and detaches them: checks of these pull requests no
 * longer start the run, and a later turn writes to a new branch and proposes a new pull request. The existing
 * pull requests stay.
 */
export const removeRunFromPullRequest = (ctx: Context, run_id: number): Promise<AgentRun> =>
  withRunsOfPullRequests(ctx, run_id, async (tx, runs, lines) => {
    await stopLockedRuns(tx, ctx, lines)
    const ids = runs.map(run => run.id)
    const left = await detachPullRequests(tx, ctx.organization_id, ids)
    if (left.length === 0) return
    for (const run of runs) {
      const { id, repository_id, branch } = run
      if (left.some(pr => pr.repository_id === repository_id && pr.head_branch === branch))
        await abandonBranch(tx, ctx.organization_id, id)
      await recordUpdate(tx, ctx, run, { removed_from_pull_request: true })
      await audit(tx, ctx, 'run.removed_from_pull_request', { type: 'run', id })
    }
  })

/**
 * Runs `act` in one transaction. `lines`: the runs and all that a stop of them ends. Throws 404 when the run
 * is not in this organization.
 */
async function withRunsOfPullRequests(
  ctx: Context,
  run_id: number,
  act: (tx: Db, runs: RunRow[], lines: RunRow[]) => Promise<void>,
): Promise<AgentRun> {
  return ctx.db.transaction(async tx => {
    const ids = await listRunsOfPullRequests(tx, ctx.organization_id, run_id)
    const lines = await lockLines(tx, ctx, ids)
    const runs = lines.filter(({ id }) => ids.includes(id))
    if (runs.length === 0) throw runNotFound()
    await act(tx, runs, lines)
    return getRun(ctx, run_id, tx)
  })
}

async function mark(tx: Db, ctx: Context, runs: RunRow[], banned: boolean): Promise<void> {
  for (const run of runs) {
    if (!(await setBanned(tx, ctx.organization_id, run.id, banned))) continue
    await recordUpdate(tx, ctx, run, { banned })
    await audit(tx, ctx, banned ? 'run.banned' : 'run.unbanned', { type: 'run', id: run.id })
  }
}

const recordUpdate = (tx: Db, ctx: Context, run: RunRow, change: Record<string, unknown>) =>
  reportRun(tx, run, {
    event: { type: 'agent_run.updated', body: { ...change, user_id: ctx.actor.user_id } },
  })
