import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { OUR_MARK } from '../../core/forges/forge-event.ts'
import { neutralMentions } from '../../core/forges/neutral-mentions.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import type { OnForge } from '../../forge/forges.ts'
import type { ClaimedTask } from '../../store/forges/forge-deliveries.ts'
import { getRun, type RunRow } from '../../store/runs/runs.ts'
import type { Context } from '../context.ts'

/** Says on the forge that a run is at work, and then what came of it. `turn`: of which turn; `told`: the first is said. */
export type AnswerTask = { kind: 'answer'; repository: ForgeRepository; number: number; run_id: number; turn: number; told: boolean }

const LOOK_SECONDS = 5
const MOST_CHARS = 60_000

/** What is to be done next; null: all is said. */
export async function doAnswer(
  ctx: Context,
  claimed: ClaimedTask,
  task: AnswerTask,
  on: OnForge,
): Promise<{ task: AnswerTask; seconds: number } | null> {
  const run = await getRun(ctx.db, ctx.organization_id, task.run_id)
  if (!run) return null
  const link = `[run ${run.id}](${traceUrl(ctx.base_url, run.id)})`
  if (!task.told) {
    await say(on, task, `${claimed.delivery} begun`, `Working on it: ${link}.`)
    return { task: { ...task, told: true }, seconds: LOOK_SECONDS }
  }
  if (run.turn === task.turn && !isTerminal(run.status)) return { task, seconds: LOOK_SECONDS }
  // A later turn has its own answer, and the result is its by now.
  if (run.turn === task.turn) await say(on, task, `${claimed.delivery} ended`, `${resultOf(run)}\n\n${link}`)
  return null
}

function resultOf(run: RunRow): string {
  if (run.status === 'completed') return neutralMentions(run.result.slice(0, MOST_CHARS).toWellFormed())
  return run.status === 'cancelled' ? 'The run was stopped.' : `The run failed (${run.status_reason}).`
}

/** A comment of ours, once: whoever asks again after an answer was lost finds it by its mark and its author, because anybody can write the mark. */
async function say(on: OnForge, { number }: AnswerTask, mark: string, words: string): Promise<void> {
  const sign = `${OUR_MARK}${mark} -->`
  const said = await on.forge.listComments(on.repository, number)
  const login = on.login ?? (await on.forge.identity()).login
  if (said.some(({ author, body }) => author === login && body.includes(sign))) return
  await on.forge.createComment(on.repository, number, `${words}\n\n${sign}`)
}
