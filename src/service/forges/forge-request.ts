import { limits } from '../../contract/limits.ts'
import { forgeNames } from '../../contract/repositories/forges.ts'
import { type ForgeRequest, requestPrompt } from '../../core/forges/forge-event.ts'
import { same } from '../../core/forges/forge-payload.ts'
import type { ServiceError } from '../../core/service-error.ts'
import type { OnForge } from '../../forge/forges.ts'
import { noticingGap } from '../../forge/sync.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { joined } from '../../store/database.ts'
import { type ClaimedTask, findRunOfSubject, settleForgeTask } from '../../store/forges/forge-deliveries.ts'
import { insertRunMark } from '../../store/forges/run-marks.ts'
import { findRemote, isBranchOfRun } from '../../store/pull-requests/remote-pull-requests.ts'
import { getRun } from '../../store/runs/runs.ts'
import { entry } from '../../trace/entry.ts'
import type { Context } from '../context.ts'
import { createRun } from '../runs/create-run.ts'
import type { MessageSource } from '../runs/message-source.ts'
import { resumeRun } from '../runs/resume-run.ts'
import { withoutSecrets } from '../secrets/known-secrets.ts'
import type { AnswerTask } from './run-answer.ts'
import { subjectOf } from './receive-delivery.ts'

/**
 * What somebody asks for on the forge becomes a message to the run that has the pull request, or that was asked about it before, or a new run;
 * run and outcome are written together. Answers why nothing was done; null: something was.
 */
export async function doRequest(
  ctx: Context,
  claimed: ClaimedTask,
  asked: ForgeRequest,
  { on, repository }: { on: OnForge; repository: RepositoryRow },
): Promise<string | null> {
  const permission = await noticingGap(ctx.db, on, repository, 'user_permissions', () => on.forge.permissionOf(on.repository, asked.author))
  if (permission !== 'admin' && permission !== 'write') return `${asked.author} may not write there (${permission})`
  const { title, body } = asked
  const request = { ...asked, ...(await withoutSecrets(ctx.db, ctx, repository.id, { title, body })) }
  const prompt = requestPrompt(request, forgeNames[on.forge.kind])
  const source: MessageSource = { source_type: request.by === 'review' ? 'GITHUB_PR_REVIEW' : 'GITHUB', comment: commentEntry(request) }
  const pull = request.is_pull_request ? await on.forge.getPullRequest(on.repository, request.number) : null
  if (
    pull &&
    asked.by === 'opening' &&
    same(asked.author, on.login ?? '') &&
    (await isBranchOfRun(ctx.db, ctx.organization_id, repository.id, pull.head_branch))
  )
    return 'it is a pull request of ours'
  const base_ref = pull && (await branchOf(ctx, repository, pull.head_branch))
  return ctx.db.transaction(async tx => {
    // Who may write there may not write everywhere else that the owner of the connection can.
    const within = { ...ctx, db: joined(tx), actor: { ...ctx.actor, repository_ids: [repository.id] } }
    const known = await runOf(within, claimed, request, repository)
    if (known?.banned) return `run ${known.id} is banned`
    const input = { prompt, repo_id: repository.id, title: request.title.slice(0, limits.title_chars).toWellFormed() || null, base_ref }
    const run = known
      ? await resumeRun(within, { agent_run_id: known.id, prompt, mode: 'steer' }, source)
      : await createRun(within, input, source)
    if (pull !== null) await insertRunMark(tx, ctx.organization_id, run.id, pull.head_sha)
    const { repository: place, number } = request
    const task: AnswerTask = { kind: 'answer', repository: place, number, run_id: run.id, turn: run.turn, told: false }
    const outcome = known ? `passed on to run ${run.id}` : `started run ${run.id}`
    await settleForgeTask(tx, claimed, { task: JSON.stringify(task), seconds: 0, outcome, run_id: run.id })
    return null
  })
}

async function runOf(ctx: Context, { forge_id }: ClaimedTask, request: ForgeRequest, repository: RepositoryRow) {
  const pr = request.is_pull_request ? await findRemote(ctx.db, ctx.organization_id, repository.id, request.number) : undefined
  const id = pr?.run_id ?? (await findRunOfSubject(ctx.db, ctx.organization_id, forge_id, subjectOf(request) ?? ''))
  return id === null ? undefined : getRun(ctx.db, ctx.organization_id, id)
}

/** What a run about somebody else's pull request starts from: its branch, where the repository has it. */
async function branchOf(ctx: Context, repository: RepositoryRow, head_branch: string): Promise<string | null> {
  const base = await ctx.resolveBase(repository, head_branch)
  return base.state === 'known' ? head_branch : null
}

/** The trace shows what was said as what it is: somebody's words (specification.md#logs). */
const commentEntry = (request: ForgeRequest) =>
  entry({
    message_type: 'USER_GITHUB_ISSUE_COMMENT',
    observation: {
      ...{ body: request.body, author: request.author, author_association: request.author_association },
      ...{ issue_number: request.number, repo: `${request.repository.owner}/${request.repository.name}` },
      ...{ comment_id: request.comment_id, url: request.url, trusted: false },
    },
  })

/** Whether it may work later by itself. */
export const maySucceedLater = (error: ServiceError): boolean => error.code === 'unavailable' || error.code === 'invalid_transition'
