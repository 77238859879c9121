import type { ListRunsQuery, UpdateRunInput } from '../../contract/runs/run-inputs.ts'
import type { AgentRun, RunStatus, SourceType } from '../../contract/runs/runs.ts'
import { pageNumbers, pageWindow } from '../../core/paging.ts'
import { isRecorded } from '../../core/runs/recorded-run.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import type { StatusFilter } from '../../core/wire-profile.ts'
import type { Db } from '../../store/database.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import { updateRun as updateRunRow } from '../../store/runs/run-changes.ts'
import {
  getRun as getRunRow,
  listRuns as listRunRows,
  lockRun,
  type RunLock,
  type ShownRun,
} from '../../store/runs/runs.ts'
import type { Context } from '../context.ts'
import { requireModel } from '../organizations/models.ts'
import { withoutSecrets } from '../secrets/known-secrets.ts'
import { runObjects } from './run-object.ts'

/**
 * Returns the same error for a run that does not exist and for one of another organization
 * (specification.md#errors).
 */
export const runNotFound = () => new ServiceError('not_found', 'Agent run not found.')

export async function requireRun(db: Db, organization_id: number, run_id: number): Promise<ShownRun> {
  const row = await getRunRow(db, organization_id, run_id)
  if (!row) throw runNotFound()
  return row
}

export async function requireLockedRun(
  db: Db,
  organization_id: number,
  run_id: number,
  lock?: RunLock,
): Promise<ShownRun> {
  const row = await lockRun(db, organization_id, run_id, lock)
  if (!row) throw runNotFound()
  return row
}

/**
 * Throws 409 for an operation that would continue a run without a conversation: a single tool call, or the
 * recording of a session outside this service.
 */
export function requireConversation(run: Pick<ShownRun, 'id' | 'source_type'>): void {
  if (run.source_type === 'TOOL')
    throw new ServiceError(
      'invalid_transition',
      `Run ${run.id} is a single tool call, which cannot be resumed, paused or forked. Create a run instead.`,
    )
  if (isRecorded(run))
    throw new ServiceError(
      'invalid_transition',
      'This run is the recording of a local agent session: it can be stopped, archived and deleted, but only that session continues it.',
    )
}

/** Returns the run object. Throws 404 when it is not in this organization. */
export async function getRun(ctx: Context, run_id: number, db: Db = ctx.db): Promise<AgentRun> {
  const row = await requireRun(db, ctx.organization_id, run_id)
  const [run] = await runObjects(db, ctx.organization_id, [row], ctx.base_url)
  if (!run) throw runNotFound()
  return run
}

type RunsQuery = Omit<ListRunsQuery, 'status' | 'source_type'> & {
  status?: (RunStatus | StatusFilter)[] | undefined
  source_type?: (SourceType | SourceType[])[] | undefined
}

/**
 * Returns one page, newest first. A status or source of the public API can mean several of this service
 * (specification.md#wire-profiles).
 */
export async function listRuns(ctx: Context, { status, source_type, ...query }: RunsQuery) {
  const window = pageWindow(query)
  const filter = {
    ...query,
    status: status?.map(one => (typeof one === 'string' ? { statuses: [one], except: [] } : one)),
    source_type: source_type?.flat(),
    repository_ids: ctx.actor.repository_ids ?? undefined,
  }
  const { rows, total } = await listRunRows(ctx.db, ctx.organization_id, filter, window)
  return {
    items: await runObjects(ctx.db, ctx.organization_id, rows, ctx.base_url),
    total,
    ...pageNumbers(total, window),
  }
}

/**
 * Changes title, tags, archive, and model, reasoning effort, review and budget of the next turn. Throws 400
 * for an unknown model.
 */
export async function updateRun(ctx: Context, run_id: number, input: UpdateRunInput): Promise<AgentRun> {
  const model =
    input.model === undefined
      ? undefined
      : requireModel(await ctx.organizationModels(ctx.db, ctx.organization_id), input.model).id
  return ctx.db.transaction(async tx => {
    const run = await requireLockedRun(tx, ctx.organization_id, run_id)
    const next_turn = (['model', 'reasoning_effort', 'review', 'budget'] as const).find(
      name => input[name] !== undefined,
    )
    if (isRecorded(run) && next_turn)
      throw invalid(['body', next_turn], 'cannot be changed: the run is the recording of a local session')
    const { repository_id } = run
    const { title, tags } = input
    const texts =
      title === undefined && tags === undefined
        ? {}
        : await withoutSecrets(tx, ctx, repository_id, { title, tags })
    await updateRunRow(tx, ctx.organization_id, run_id, { ...input, ...texts, model, budget: input.budget })
    const body = { changed: Object.keys(input), user_id: ctx.actor.user_id }
    await reportRun(tx, run, { event: { type: 'agent_run.updated', body } })
    return getRun(ctx, run_id, tx)
  })
}
