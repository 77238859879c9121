import { limits } from '../../contract/limits.ts'
import { forgeNames } from '../../contract/repositories/forges.ts'
import { type ForgeRequest, requestPrompt } from '../../core/forges/forge-event.ts'
import { same } from '../../core/forges/forge-payload.ts'
import { ServiceError } from '../../core/service-error.ts'
import type { OnForge } from '../../forge/forges.ts'
import { noticingGap } from '../../forge/sync.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { type Db, joined } from '../../store/database.ts'
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
import { subjectOf } from './receive-delivery.ts'
import type { AnswerTask } from './run-answer.ts'

/**
 * Turns a request on a forge into a message to the run of its pull request, or to the run of an earlier
 * request there, or into a new run. Run and outcome are committed together. Returns why nothing was done;
 * null: something was.
 */
export async function handleRequest(
  ctx: Context,
  claimed: ClaimedTask,
  task: ForgeRequest,
  { on, repository }: { on: OnForge; repository: RepositoryRow },
): Promise<string | null> {
  const permission = await noticingGap(ctx.db, on, repository, 'user_permissions', () =>
    on.forge.permissionOf(on.repository, task.author),
  )
  if (permission !== 'admin' && permission !== 'write')
    return `${task.author} may not write there (${permission})`
  const { title, body } = task
  const request = { ...task, ...(await withoutSecrets(ctx.db, ctx, repository.id, { title, body })) }
  const pull = request.is_pull_request ? await on.forge.getPullRequest(on.repository, request.number) : null
  if (pull && task.by === 'opening' && same(task.author, on.login ?? '')) {
    if (await isBranchOfRun(ctx.db, ctx.organization_id, repository.id, pull.head_branch))
      return 'it is a pull request of ours'
  }
  const prompt = requestPrompt(request, forgeNames[on.forge.kind])
  const base_ref = pull && (await branchOf(ctx, repository, pull.head_branch))
  return ctx.db.transaction(tx =>
    startOrResume(ctx, tx, claimed, request, {
      repository,
      prompt,
      base_ref,
      head_sha: pull?.head_sha ?? null,
    }),
  )
}

type RunInput = {
  repository: RepositoryRow
  prompt: string
  base_ref: string | null
  head_sha: string | null
}

async function startOrResume(
  ctx: Context,
  tx: Db,
  claimed: ClaimedTask,
  request: ForgeRequest,
  input: RunInput,
): Promise<string | null> {
  const { repository, prompt, base_ref, head_sha } = input
  // Permission to write in this repository permits nothing in others of the connection's owner.
  const within = { ...ctx, db: joined(tx), actor: { ...ctx.actor, repository_ids: [repository.id] } }
  const known = await runOf(within, claimed, request, repository)
  if (known?.banned) return `run ${known.id} is banned`
  const source: MessageSource = {
    source_type: request.by === 'review' ? 'GITHUB_PR_REVIEW' : 'GITHUB',
    comment: commentEntry(request),
  }
  const title = request.title.slice(0, limits.title_chars).toWellFormed() || null
  const run = known
    ? await resumeRun(within, { agent_run_id: known.id, prompt, mode: 'steer' }, source)
    : await createRun(within, { prompt, repo_id: repository.id, title, base_ref }, source)
  if (head_sha !== null) await insertRunMark(tx, ctx.organization_id, run.id, head_sha)
  const { repository: on_forge, number } = request
  const task: AnswerTask = {
    kind: 'answer',
    repository: on_forge,
    number,
    run_id: run.id,
    turn: run.turn,
    announced: false,
  }
  const outcome = known ? `passed on to run ${run.id}` : `started run ${run.id}`
  // The transaction is undone with the error: the process that has the task now starts the run.
  if (
    !(await settleForgeTask(tx, claimed, { task: JSON.stringify(task), seconds: 0, outcome, run_id: run.id }))
  )
    throw new ServiceError('conflict', 'Another process has this task.')
  return null
}

async function runOf(
  ctx: Context,
  { forge_id }: ClaimedTask,
  request: ForgeRequest,
  repository: RepositoryRow,
) {
  const pr = request.is_pull_request
    ? await findRemote(ctx.db, ctx.organization_id, repository.id, request.number)
    : undefined
  const id =
    pr?.run_id ?? (await findRunOfSubject(ctx.db, ctx.organization_id, forge_id, subjectOf(request) ?? ''))
  return id === null ? undefined : getRun(ctx.db, ctx.organization_id, id)
}

/**
 * The branch of the pull request, if the repository has it: a run about somebody else's pull request starts
 * from it.
 */
async function branchOf(
  ctx: Context,
  repository: RepositoryRow,
  head_branch: string,
): Promise<string | null> {
  const base = await ctx.resolveBase(repository, head_branch)
  return base.state === 'known' ? head_branch : null
}

/** The trace shows the request as untrusted text of its author (specification.md#logs). */
const commentEntry = (request: ForgeRequest) =>
  entry({
    message_type: 'USER_GITHUB_ISSUE_COMMENT',
    observation: {
      body: request.body,
      author: request.author,
      author_association: request.author_association,
      issue_number: request.number,
      repo: `${request.repository.owner}/${request.repository.name}`,
      comment_id: request.comment_id,
      url: request.url,
      trusted: false,
    },
  })

/** Returns whether the same request may succeed later without a change. */
export const maySucceedLater = (error: ServiceError): boolean =>
  error.code === 'unavailable' || error.code === 'invalid_transition'
