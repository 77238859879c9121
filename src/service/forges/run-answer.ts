import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { OUR_MARK } from '../../core/forges/forge-event.ts'
import { neutralMentions } from '../../core/forges/neutral-mentions.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import type { OnForge } from '../../forge/forges.ts'
import type { ClaimedTask } from '../../store/forges/forge-deliveries.ts'
import { getRun, type RunRow } from '../../store/runs/runs.ts'
import type { Context } from '../context.ts'

/**
 * Comments on the forge that a run has started, and then its result. `turn`: of which turn; `announced`: the
 * start is posted.
 */
export type AnswerTask = {
  kind: 'answer'
  repository: ForgeRepository
  number: number
  run_id: number
  turn: number
  announced: boolean
}

const POLL_INTERVAL_SECONDS = 5
const MAX_CHARS = 60_000

/** Returns the next task; null: everything is posted. */
export async function postAnswer(
  ctx: Context,
  claimed: ClaimedTask,
  task: AnswerTask,
  on: OnForge,
): Promise<{ task: AnswerTask; seconds: number } | null> {
  const run = await getRun(ctx.db, ctx.organization_id, task.run_id)
  if (!run) return null
  const link = `[run ${run.id}](${traceUrl(ctx.base_url, run.id)})`
  if (!task.announced) {
    await commentOnce(on, task, `${claimed.delivery} begun`, `Working on it: ${link}.`)
    return { task: { ...task, announced: true }, seconds: POLL_INTERVAL_SECONDS }
  }
  if (run.turn === task.turn && !isTerminal(run.status)) return { task, seconds: POLL_INTERVAL_SECONDS }
  // A later turn has its own task, and the result of the run belongs to that turn by now.
  if (run.turn === task.turn)
    await commentOnce(on, task, `${claimed.delivery} ended`, `${resultOf(run)}\n\n${link}`)
  return null
}

function resultOf(run: RunRow): string {
  if (run.status === 'completed') {
    const result = neutralMentions(run.result.slice(0, MAX_CHARS).toWellFormed())
    return run.status_reason === null
      ? result
      : `${result}\n\n**Not everything was done** (\`${run.status_reason}\`).`
  }
  return run.status === 'cancelled' ? 'The run was stopped.' : `The run failed (${run.status_reason}).`
}

/**
 * Posts a comment unless it exists: after a lost response it is found by its mark and its author, because
 * anybody can write the mark.
 */
async function commentOnce(on: OnForge, { number }: AnswerTask, mark: string, text: string): Promise<void> {
  const hidden_mark = `${OUR_MARK}${mark} -->`
  const comments = await on.forge.listComments(on.repository, number)
  const login = on.login ?? (await on.forge.identity()).login
  if (comments.some(({ author, body }) => author === login && body.includes(hidden_mark))) return
  await on.forge.createComment(on.repository, number, `${text}\n\n${hidden_mark}`)
}
