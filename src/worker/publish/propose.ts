import { bodyOf } from '../../agent/phases/proposal-text.ts'
import { wordsOf } from '../../agent/phases/review.ts'
import { neutralMentions } from '../../core/forges/neutral-mentions.ts'
import { titleOf } from '../../core/runs/title.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import type { NewRemotePullRequest, RemotePullRequest } from '../../forge/port.ts'
import { resolveRef } from '../../git/read/revisions.ts'
import type { Db } from '../../store/database.ts'
import { findByBranch, savePullRequest } from '../../store/pull-requests/pull-requests.ts'
import { mirrorRemote, recordRemote } from '../../store/pull-requests/remote-pull-requests.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import { entry } from '../../trace/entry.ts'
import { proposeOnForge } from '../base/propose-on-forge.ts'
import type { CommittedPublication } from './publication.ts'
import { readTemplate } from './pull-request-template.ts'
import { recordedReview } from './recorded-review.ts'

type Change = { files_changed: number; additions: number; deletions: number }
type ProposalOutcome = { kind: 'proposed' | 'ended' } | { kind: 'refused'; message: string }
type RecordedProposal = { wanted: NewRemotePullRequest; remote: RemotePullRequest | null; change: Change }

/**
 * Creates the pull request of the pushed branch, as a draft until it is evaluated, or updates it to the new
 * head. `ended`: it was closed or merged meanwhile and stays so; `refused`: the forge refused it, or was not
 * available for as long as it is retried.
 */
export async function propose(committed: CommittedPublication, change: Change): Promise<ProposalOutcome> {
  const { deps, writer, base } = committed
  const { title, body } = await writer.redactor.value(await wordsFor(committed))
  const wanted = {
    title,
    body,
    head_branch: base.branch,
    base_branch: await targetOf(committed),
    draft: true,
  }
  if ((await writer.append({})).status === 'cancelling') return { kind: 'proposed' }
  const proposed = await proposeOnForge(deps, writer, base.repository, wanted, committed.control)
  if (proposed.kind === 'failed') return { kind: 'refused', message: proposed.message }
  const remote = proposed.kind === 'created' ? proposed.pr : null
  const is_open = await deps.db.transaction(tx => recordProposed(tx, committed, { wanted, remote, change }))
  return { kind: is_open ? 'proposed' : 'ended' }
}

/** False: it was closed or merged meanwhile. */
async function recordProposed(
  tx: Db,
  committed: CommittedPublication,
  { wanted, remote, change }: RecordedProposal,
): Promise<boolean> {
  const { deps, writer, run, base, head } = committed
  const { files_changed, additions, deletions } = change
  // A person who stopped the run, or removed it from its pull request, does not want another one.
  if ((await writer.append({}, tx)).status === 'cancelling' && remote === null) return true
  const pr = await savePullRequest(tx, {
    organization_id: run.organization_id,
    repository_id: base.repository.id,
    run_id: run.id,
    title: wanted.title,
    body: wanted.body,
    url: `${traceUrl(deps.base_url, run.id)}?view=changes`,
    head_branch: base.branch,
    base_branch: wanted.base_branch,
    base_sha: base.sha,
    head_sha: head,
    files_changed,
    additions,
    deletions,
  })
  if (!pr) return false
  if (remote && (pr.created || pr.remote_number === null))
    await recordRemote(tx, run.organization_id, pr.id, remote)
  const { number, url } = remote ?? pr
  if (pr.created) {
    const { head_branch, base_branch, title } = pr
    const observation = {
      pr_number: number,
      url,
      head_branch,
      base_branch,
      head_sha: head,
      title,
      files_changed,
      additions,
      deletions,
    }
    await writer.append({ entries: [entry({ message_type: 'INITIAL_PR_GENERATION', observation })] }, tx)
  }
  const body = { pr_number: number, state: pr.state, created: pr.created }
  await reportRun(tx, run, { event: { type: 'agent_run.pull_request', body } })
  // It was closed or merged on the forge before its creation was reported here.
  const ended = remote !== null && (remote.state === 'closed' || remote.state === 'merged')
  if (ended) await mirrorRemote(tx, run.organization_id, pr.id, remote)
  return !ended
}

/**
 * Returns the target of the pull request: the branch that the run began at, or the repository's default
 * branch where it began at a tag or a commit.
 */
async function targetOf({ deps, base: { repository, ref } }: CommittedPublication): Promise<string> {
  if ((await resolveRef(deps.git, repository.id, `refs/heads/${ref}`)) !== null) return ref
  if (repository.base_branch !== null) return repository.base_branch
  const tip = await resolveRef(deps.git, repository.id, null)
  return tip !== null && 'ref' in tip ? tip.ref : ref
}

/**
 * Returns the words of a new pull request: those of the review of its commits, or else by rules. A title that
 * a person gave the run stays; so do the words of an existing pull request.
 */
async function wordsFor({
  deps,
  writer,
  run,
  base,
  head,
  words,
}: CommittedPublication): Promise<{ title: string; body: string }> {
  const template = await readTemplate(deps, base)
  const by_rules = { title: words.title, body: bodyOf(words, template) }
  if (await findByBranch(deps.db, run.organization_id, base.repository.id, base.branch)) return by_rules
  const written = wordsOf(await recordedReview(writer, head))
  if (written === null) return by_rules
  const named = run.title !== titleOf(run.prompt)
  const title = named ? words.title : neutralMentions(written.title)
  return { title, body: bodyOf({ ...words, description: neutralMentions(written.body) }, null) }
}
