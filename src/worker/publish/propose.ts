import { bodyOf, type Proposal } from '../../agent/phases/pull-request.ts'
import { wordsOf, wordsQuestion } from '../../agent/phases/pull-request-words.ts'
import { neutralMentions } from '../../core/forges/neutral-mentions.ts'
import { titleOf } from '../../core/runs/title.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import { resolveRef } from '../../git/read/revisions.ts'
import { findByBranch, type PullRequestRow, savePullRequest } from '../../store/pull-requests/pull-requests.ts'
import { mirrorRemote, recordRemote } from '../../store/pull-requests/remote-pull-requests.ts'
import { insertEvent } from '../../store/runs/events.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { entry } from '../../trace/entry.ts'
import type { Base } from '../base/base.ts'
import { proposeOnForge } from '../base/propose-on-forge.ts'
import type { Control } from '../claim/control.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { AskingDeps } from '../turns/side-question-journal.ts'
import { readTemplate } from './pull-request-template.ts'

export const isEnded = ({ state }: PullRequestRow) => state === 'closed' || state === 'merged'

/** Makes the pull request of the pushed branch, as a draft until it is evaluated, or brings it up to the new head. False: it was closed or merged meanwhile, and stays so. */
export async function propose(
  deps: AskingDeps,
  writer: RunWriter,
  run: RunRow,
  base: Base,
  head: string,
  words: Proposal,
  changes: { files_changed: number; additions: number; deletions: number; patch: string },
  control: Control,
): Promise<boolean> {
  const counts = { files_changed: changes.files_changed, additions: changes.additions, deletions: changes.deletions }
  const { title, body } = await writer.redactor.value(await wordsFor(deps, run, base, words, changes.patch))
  const base_branch = await targetOf(deps, base)
  const wanted = { title, body, head_branch: base.branch, base_branch, draft: true }
  if ((await writer.append({})).status === 'cancelling') return true
  const proposed = await proposeOnForge(deps, writer, base.repository, wanted, control)
  if (proposed.kind === 'failed') return true
  const remote = proposed.kind === 'made' ? proposed.pr : null
  return deps.db.transaction(async tx => {
    // Who stopped the run, or removed it from its pull request, does not want another.
    if ((await writer.append({}, tx)).status === 'cancelling' && remote === null) return true
    const pr = await savePullRequest(tx, {
      organization_id: run.organization_id,
      repository_id: base.repository.id,
      run_id: run.id,
      title,
      body,
      url: `${traceUrl(deps.base_url, run.id)}?view=changes`,
      head_branch: base.branch,
      base_branch,
      base_sha: base.sha,
      head_sha: head,
      ...counts,
    })
    if (!pr) return false
    if (remote && (pr.created || pr.remote_number === null)) await recordRemote(tx, run.organization_id, pr.id, remote)
    const { number, url } = remote ?? pr
    if (pr.created) {
      const observation = {
        pr_number: number,
        url,
        head_branch: pr.head_branch,
        base_branch: pr.base_branch,
        head_sha: head,
        title: pr.title,
        ...counts,
      }
      await writer.append({ entries: [entry({ message_type: 'INITIAL_PR_GENERATION', observation })] }, tx)
    }
    await insertEvent(tx, run.organization_id, run.id, 'agent_run.pull_request', {
      pr_number: number,
      state: pr.state,
      created: pr.created,
    })
    // Somebody ended it on the forge before we heard that it was made.
    const ended = remote !== null && (remote.state === 'closed' || remote.state === 'merged')
    if (ended) await mirrorRemote(tx, run.organization_id, pr.id, remote)
    return !ended
  })
}

/** The branch that a change is for: the one that the run began at, or the repository's usual one where it began at a tag or a commit. */
async function targetOf(deps: AskingDeps, { repository, ref }: Base): Promise<string> {
  if ((await resolveRef(deps.git, repository.id, `refs/heads/${ref}`)) !== null) return ref
  if (repository.base_branch !== null) return repository.base_branch
  const usual = await resolveRef(deps.git, repository.id, null)
  return usual !== null && 'ref' in usual ? usual.ref : ref
}

/** The words of a new pull request: a model's where one is asked, otherwise by rules. A title that somebody gave the run stays. One that is there keeps its words, whoever has changed them. */
async function wordsFor(
  deps: AskingDeps,
  run: RunRow,
  base: Base,
  words: Proposal,
  patch: string,
): Promise<{ title: string; body: string }> {
  const template = await readTemplate(deps, base)
  const by_rules = { title: words.title, body: bodyOf(words, template) }
  if (await findByBranch(deps.db, run.organization_id, base.repository.id, base.branch)) return by_rules
  const written = wordsOf(await deps.ask(wordsQuestion(base.branch, { answer: words.description, patch, template })))
  if (written === null) return by_rules
  const named = run.title !== titleOf(run.prompt)
  const title = named ? words.title : neutralMentions(written.title)
  return { title, body: bodyOf({ ...words, description: neutralMentions(written.body) }, null) }
}
