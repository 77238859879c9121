import { actionTool } from '../../contract/runs/action-tools.ts'
import { pause } from '../../core/pause.ts'
import { exponential, retryDelay } from '../../core/retry-policy.ts'
import type { Failure } from '../../core/runs/outcome.ts'
import { objectsOf } from '../../git/objects/objects.ts'
import { GitError } from '../../git/process/git-error.ts'
import { hasMoved, isBlockedName, pushBranch } from '../../git/publish/push.ts'
import { workflowRefusal } from '../../git/publish/workflow-refusal.ts'
import { recordPush } from '../../store/changes.ts'
import type { NewEntry } from '../../store/runs/append.ts'
import { listPushes } from '../../store/runs/journal.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { entry, errorEntry } from '../../trace/entry.ts'
import { objectsOfRun } from '../base/base.ts'
import { type CommittedPublication, notPublished, type PublishResult } from './publication.ts'
import { findConflict, type PushConflict } from './push-conflict.ts'

/** An error that git does not classify is unlikely to go away. */
const MAX_UNKNOWN_ATTEMPTS = 3
/** Milliseconds. Many runs may wait for one server. */
const retries = exponential(2_000, 5 * 60_000)
const NOTES: Record<PushConflict['kind'], string> = {
  ahead: 'An earlier worker of this run pushed that: the work continues from there.',
  joined: 'Somebody else pushed that: it is merged with the changes of the agent.',
  blocked: 'A branch has the name of a folder of this one, so the work goes to a branch without folders.',
  taken:
    'The branch has other commits, of a person or of an earlier time: they stay as they are, and the work goes to a new branch.',
}

type PushRefusal = Extract<PublishResult, { kind: 'refused' }>

/**
 * `pushed_sha`: the last known commit of this branch; `proposes`: a successful push is followed by a new pull
 * request.
 */
type PushInput = { pushed_sha: string | null; proposes: boolean }

/**
 * Pushes the run's branch and returns null, or why it is not pushed. The intent is recorded before. A remote
 * that is unavailable is retried with backoff for `push_retry_ms` from the first push of the turn, whichever
 * worker made it; the run stays `running` in phase `push`, and every wait is in the trace before it begins.
 */
export async function pushRunBranch(
  committed: CommittedPublication,
  { pushed_sha, proposes }: PushInput,
): Promise<PushConflict | PushRefusal | Failure | null> {
  const { deps, writer, control } = committed
  const { signal } = control
  const { announced, waited_ms } = await announce(committed)
  if (pushed_sha !== null) announced.add(pushed_sha)
  const ends_at = performance.now() + deps.push_retry_ms - waited_ms
  for (let attempt = 1; ; attempt++) {
    const failure = await pushOnce(committed)
    if (failure === null) return null
    const { error, actionOf } = failure
    const found = await conflictOf(committed, error, { pushed_sha, announced })
    const conflict = found === 'none' ? null : found
    const failed = actionOf(conflict === null ? {} : noteOf(conflict))
    if (conflict !== null) {
      await writer.append({ entries: [failed] })
      return conflict
    }
    const code = `push_${error.code}`
    const { message } = error
    const wait = waitBefore(attempt, error, found === 'none')
    if (wait === null || performance.now() + wait >= ends_at)
      return giveUp(committed, { error, failed, attempt, proposes })
    const retried = errorEntry(
      { code, message, retryable: true, phase: 'push', attempt, retry_in_ms: Math.round(wait) },
      actionTool.git_push,
    )
    await writer.append({ entries: attempt === 1 ? [failed, retried] : [retried] })
    await control.whileIdle(pause(wait, signal).catch(() => {}))
    if (signal.aborted) return notPublished('git_unavailable', code, message)
  }
}

/** Null: the error has another cause. */
async function conflictOf(
  committed: CommittedPublication,
  error: GitError,
  known: Parameters<typeof findConflict>[1],
) {
  // A name without folders has no other one.
  if (isBlockedName(error)) return committed.base.branch.includes('/') ? ({ kind: 'blocked' } as const) : null
  return hasMoved(error) ? findConflict(committed, known) : null
}

const noteOf = (conflict: PushConflict) => ({
  ...('sha' in conflict && { found_sha: conflict.sha }),
  note: NOTES[conflict.kind],
})

const inputOf = ({ base, head }: CommittedPublication) => ({
  repository: base.repository.full_name,
  branch: base.branch,
  sha: head,
})

/** Null: pushed and recorded. `actionOf`: the entry of the failed push. */
async function pushOnce(
  committed: CommittedPublication,
): Promise<{ error: GitError; actionOf(more: Record<string, unknown>): NewEntry } | null> {
  const { deps, writer, base, head, control } = committed
  const { env } = objectsOf(deps.git, objectsOfRun(committed.run, base))
  const started = performance.now()
  const action = (output: Record<string, unknown>) =>
    serviceAction(actionTool.git_push, inputOf(committed), output, performance.now() - started)
  const how = { signal: control.signal, timeout_ms: deps.git_limits.push_ms, ...(env && { env }) }
  try {
    const { status } = await pushBranch(deps.git, base.repository, head, base.branch, how)
    await deps.db.transaction(async tx => {
      await writer.append({ entries: [action({ status: 'ok', result: status })] }, tx)
      await recordPush(tx, writer.organization_id, writer.run_id, writer.epoch, {
        branch: base.branch,
        sha: head,
      })
    })
    return null
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    return { error, actionOf: more => action({ status: 'error', error: error.message, ...more }) }
  }
}

/** Records the failure that ends the publication. */
async function giveUp(
  committed: CommittedPublication,
  {
    error,
    failed,
    attempt,
    proposes,
  }: { error: GitError; failed: NewEntry; attempt: number; proposes: boolean },
): Promise<PushRefusal | Failure> {
  const { writer } = committed
  const { message } = error
  const code = `push_${error.code}`
  const workflow = workflowRefusal(message)
  if (workflow !== null) {
    await writer.append({ entries: [failed] })
    return notPublished('git_unavailable', 'push_workflow_permission', workflow)
  }
  const refused = error.code === 'rejected'
  const observation = { code: error.code, message, http_status: null, retryable: !refused, attempt }
  const not_created = entry({
    message_type: 'PR_CREATION_FAILED',
    observation,
    tool_name: actionTool.git_push,
    tool_input: inputOf(committed),
  })
  // A failure that ends the run has its ERROR as the last entry of the turn.
  const refusal = errorEntry({ code, message, retryable: false, phase: 'push' }, actionTool.git_push)
  await writer.append({
    entries: [failed, ...(refused ? [refusal] : []), ...(proposes ? [not_created] : [])],
  })
  return refused ? { kind: 'refused', message } : notPublished('git_unavailable', code, message)
}

/**
 * Records the intent to push. `announced`: all commits that workers of this run intended to push there.
 * `waited_ms`: since the first push of the turn.
 */
async function announce({
  deps,
  writer,
  base: { branch },
  head,
}: CommittedPublication): Promise<{ announced: Set<string>; waited_ms: number }> {
  await writer.append({
    records: [{ kind: 'push_started', key: null, body: JSON.stringify({ branch, sha: head }) }],
  })
  const pushes = await listPushes(deps.db, writer.organization_id, writer.run_id)
  const turn = pushes.at(-1)?.turn
  return {
    announced: new Set(pushes.filter(push => push.branch === branch).map(push => push.sha)),
    waited_ms: pushes.find(push => push.turn === turn)?.age_ms ?? 0,
  }
}

/** Milliseconds until the next attempt; null: the failure is permanent. */
function waitBefore(attempt: number, error: GitError, no_conflict: boolean): number | null {
  const unknown = no_conflict || error.code === 'failed' || error.code === 'killed'
  if (!error.retryable && !(unknown && attempt < MAX_UNKNOWN_ATTEMPTS)) return null
  return retryDelay(retries, attempt)
}
