import { proposal } from '../../agent/phases/proposal-text.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import { flatBranch } from '../../git/refs/branch-name.ts'
import { squashCommand } from '../../git/workspace/workspace-commands.ts'
import { listPullRequests } from '../../store/pull-requests/pull-requests.ts'
import { nextBranch, objectsOfRun, renewBase } from '../base/base.ts'
import { runInWorkspace } from '../base/checkout.ts'
import { openBundleFile } from './bundle-file.ts'
import { commitTurn, planCommit } from './commit-turn.ts'
import { isEnded } from './ended-pull-request.ts'
import {
  type CommittedPublication,
  type NotPublished,
  type Publication,
  type PublishResult,
  uncommittedPaths,
} from './publication.ts'
import { publishOnce } from './publish-once.ts'
import { conflict_kinds, type PushConflict } from './push-conflict.ts'
import { mergePushed, rebaseOntoPushed } from './rebase-onto-pushed.ts'

/**
 * Commits in the workspace → exports → reviews → pushes one branch → pull request. Git on the host never runs
 * in the agent's tree.
 */
export async function publish(publication: Publication): Promise<PublishResult | NotPublished> {
  const { deps, writer, run, sandbox, control, sent_back } = publication
  const words = proposal({
    title: await writer.redactor.text(run.title),
    answer: await writer.redactor.text(publication.answer),
    web_url: traceUrl(deps.base_url, run.id),
    scripted: deps.models.get(run.model)?.scripted ?? false,
    trailer: deps.author.trailer,
  })
  const commit = await planCommit(publication, words.commit_message)
  const reset_to = sent_back.at(-1)?.reset_to
  if (reset_to) await runInWorkspace(deps, sandbox, squashCommand(reset_to), control.signal)
  await using bundle = openBundleFile(deps.folders.bundles, writer)
  const committed = await commitTurn(publication, commit, bundle)
  if ('kind' in committed) return committed
  if (committed.head === null) return { kind: 'nothing', uncommitted: uncommittedPaths(committed.gaps) }
  const { head, gaps } = committed
  // Awaited: the file of the bundle is removed at the end of this function.
  return await publishCommit({ ...publication, words, commit, head, gaps, bundle })
}

/**
 * Publishes the commit. A round is repeated only if the branch or its pull request changed meanwhile: each
 * conflict determines how the next round differs.
 */
async function publishCommit(committed: CommittedPublication): Promise<PublishResult | NotPublished> {
  const taken = new Set<string>()
  for (let current = committed; ; ) {
    const base = await renewBase(current.deps, current.run, current.base, current.control.signal)
    current = { ...current, base }
    const published = await publishOnce(current)
    if (published.kind === 'refused') return refused(current, published.message)
    if (published.kind === 'pull_request_ended') continue
    if (!isConflict(published)) return published
    const next = await resolveConflict(current, published, taken)
    if ('kind' in next) return next
    current = next
  }
}

const isConflict = (published: PublishResult | NotPublished | PushConflict): published is PushConflict =>
  conflict_kinds.has(published.kind)

/**
 * Returns the publication of the next round, or the end of the publication where the conflict cannot be
 * resolved.
 */
async function resolveConflict(
  current: CommittedPublication,
  conflict: PushConflict,
  taken: Set<string>,
): Promise<CommittedPublication | PublishResult> {
  const { run, base, head } = current
  if (conflict.kind === 'blocked') {
    const renewed = base.renewed ?? { start_sha: base.sha }
    return { ...current, base: { ...base, branch: flatBranch(base.branch), renewed } }
  }
  if (conflict.kind === 'taken') {
    taken.add(base.branch)
    const renewed = base.renewed ?? { start_sha: base.sha }
    const earlier = run.abandoned_branches + 1
    const branch = await nextBranch(current.deps, run, base.repository.id, { taken, earlier })
    return { ...current, base: { ...base, branch, renewed } }
  }
  const pushed = { objects: objectsOfRun(run, base), pushed_sha: conflict.sha }
  const exported = { ...current, run: { ...run, head_sha: head } }
  if (conflict.kind === 'ahead') return { ...exported, head: await rebaseOntoPushed(current, pushed) }
  const merged = await mergePushed(current, pushed)
  return typeof merged === 'string' ? refused(current, merged) : { ...exported, head: merged.head }
}

/** The message states what that means for a pull request that exists already. */
async function refused(
  { deps, run, base: { branch } }: CommittedPublication,
  message: string,
): Promise<PublishResult> {
  const pr = (await listPullRequests(deps.db, run.organization_id, [run.id])).find(
    item => item.head_branch === branch && !isEnded(item),
  )
  if (!pr)
    return {
      kind: 'refused',
      message: `The remote refused the branch ${branch}, so there is no pull request: ${message}`,
    }
  return {
    kind: 'refused',
    message: `The branch ${branch} was not pushed, so pull request ${pr.number} stays at ${pr.head_sha}: ${message}`,
  }
}
