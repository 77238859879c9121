import type {
  Check,
  CheckCommandsInput,
  PullRequestChecksQuery,
} from '../../contract/pull-requests/checks.ts'
import { checksVerdict } from '../../core/pull-requests/checks-verdict.ts'
import { holdRepository } from '../../store/access/repositories.ts'
import {
  type CheckCommandsRow,
  getCheckCommands as getRow,
  saveCheckCommands,
} from '../../store/pull-requests/check-commands.ts'
import { type CheckRow, listChecks } from '../../store/pull-requests/checks.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { repositoryNotFound, requireRepository } from '../repositories/repositories.ts'
import { requirePullRequest } from './pull-requests.ts'
import { unreadableChecks } from './unreadable-checks.ts'

const commandsObject = (row: CheckCommandsRow | undefined) => ({
  checks: row?.checks ?? [],
  updated_at: row?.updated_at.toISOString() ?? null,
  updated_by: row?.updated_by ?? null,
})

/** Throws 404 when the repository is not in this organization. */
export async function getCheckCommands(ctx: Context, repo_id: number) {
  await requireRepository(ctx.db, ctx.organization_id, repo_id)
  return commandsObject(await getRow(ctx.db, ctx.organization_id, repo_id))
}

/** Replaces the check commands. */
export async function setCheckCommands(ctx: Context, repo_id: number, { checks }: CheckCommandsInput) {
  return ctx.db.transaction(async tx => {
    if (!(await holdRepository(tx, ctx.organization_id, repo_id))) throw repositoryNotFound()
    const saved = await saveCheckCommands(tx, ctx.organization_id, repo_id, checks, ctx.actor.user_id)
    // Only names are audited: commands may be long, and are in the trace of every run.
    await audit(
      tx,
      ctx,
      'check_commands.updated',
      { type: 'repository', id: repo_id },
      { names: checks.map(check => check.name) },
    )
    return commandsObject(saved)
  })
}

/**
 * Returns the checks of a pull request's head, or of another commit of its repository. Throws 404 when it is
 * not in this organization.
 */
export async function listPullRequestChecks(ctx: Context, pr_id: number, query: PullRequestChecksQuery) {
  const pr = await requirePullRequest(ctx, pr_id)
  const head = { repository_id: pr.repository_id, head_sha: query.head_sha ?? pr.head_sha }
  const rows = await listChecks(ctx.db, ctx.organization_id, [head])
  const { state, passed, failed, pending } = checksVerdict(rows)
  const unreadable = (await unreadableChecks(ctx.db, ctx.organization_id, [pr.repository_id]))(
    pr.repository_id,
  )
  return { state, passed, failed, pending, unreadable, head_sha: head.head_sha, items: rows.map(checkObject) }
}

function checkObject(row: CheckRow): Check {
  const { id, name, head_sha, source, app, status, conclusion, url, log_excerpt, attempt } = row
  return {
    id,
    name,
    head_sha,
    source,
    app,
    status,
    conclusion,
    url,
    log_excerpt,
    attempt,
    started_at: row.started_at?.toISOString() ?? null,
    completed_at: row.completed_at?.toISOString() ?? null,
  }
}
