import { type Proposal, proposal } from '../../agent/phases/pull-request.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import type { RunObjects } from '../../git/objects/objects.ts'
import { GitError } from '../../git/process/git-error.ts'
import { keepPushed } from '../../git/publish/bundles.ts'
import { isAncestor } from '../../git/publish/merge.ts'
import { hasCommit } from '../../git/read/revisions.ts'
import { squashCommand } from '../../git/workspace/workspace-commands.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { getChange } from '../../store/changes.ts'
import { listPullRequests, type PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { recordNextBranch } from '../../store/workspaces/workspaces.ts'
import { type Base, nextBranch, objectsOfRun, renewBase } from '../base/base.ts'
import { runInWorkspace } from '../base/checkout.ts'
import { syncWithForge } from '../base/propose-on-forge.ts'
import type { Control } from '../claim/control.ts'
import { requireOwned } from '../claim/fencing.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import type { AskingDeps } from '../turns/side-question-journal.ts'
import { commitTurn, planCommit } from './commit-turn.ts'
import { evaluateTurn, type SentBack } from './evaluate-commits.ts'
import { evaluateProposed } from './evaluate-pull-request.ts'
import { exportCommit } from './export-commit.ts'
import { isEnded, propose } from './propose.ts'
import { type PushConflict, pushRunBranch } from './push-branch.ts'
import { mergePushed, rebaseOntoPushed } from './rebase-onto-pushed.ts'

/** `pushed` and `nothing` end well; `sent_back`: the agent is to mend it first; `approval`: a person is to say yes first; `refused`: the remote said no, in words for the answer, and the work is kept; `failed`: it could not be brought out or reached. */
export type Published =
  | { kind: 'nothing' }
  | { kind: 'sent_back' }
  | { kind: 'approval'; head: string }
  | { kind: 'pushed' }
  | { kind: 'refused'; message: string }
  | NotPublished
export type NotPublished = {
  kind: 'failed'
  reason: 'git_unavailable' | 'agent_error' | 'disk_quota' | 'policy_denied'
  code: string
  message: string
}

/** Commit inside → bundle out → check and import into the run's own objects → look at them → push one refspec → into the mirror → pull request (architecture: git is never run in the agent's tree). */
export async function publish(
  deps: AskingDeps,
  writer: RunWriter,
  run: RunRow,
  base: Base,
  sandbox: Sandbox,
  answer: string,
  sent_back: readonly SentBack[],
  control: Control,
): Promise<Published> {
  const { signal } = control
  const words = proposal({
    title: await writer.redactor.text(run.title),
    answer: await writer.redactor.text(answer),
    web_url: traceUrl(deps.base_url, run.id),
    scripted: deps.models.get(run.model)?.scripted ?? false,
    trailer: deps.author.trailer,
  })
  const planned = await planCommit(deps, writer, run, words.commit_message)
  const reset_to = sent_back.at(-1)?.reset_to
  if (reset_to) await runInWorkspace(deps, sandbox, squashCommand(reset_to), signal)
  const made = await commitTurn(deps, base, sandbox, planned, signal)
  if ('kind' in made) return made
  if (made.head === null) return { kind: 'nothing' }
  const taken = new Set<string>()
  // Each round ends unless a person closed or merged the pull request in the middle of it, or the remote has a branch of this name that nobody
  // here knows: the database came from a backup, and the run had been further. Or somebody has force-pushed to it. What is there is left alone. Or the branch has what an owner of
  // before pushed in its last moment: the work goes on from there. Or what somebody else pushed on top of ours: it is merged.
  const objects = objectsOfRun(run, base)
  let head = made.head
  let row = run
  for (let current = base; ; ) {
    current = await renewBase(deps, row, current, signal)
    const published = await offer(deps, writer, row, current, sandbox, head, words, sent_back, control)
    if (published === null) continue
    if (published.kind === 'ahead') {
      row = { ...row, head_sha: head }
      head = await rebaseOntoPushed(deps, { objects, sandbox }, planned, { head, pushed_sha: published.sha }, signal)
    } else if (published.kind === 'joined') {
      const joined = await mergePushed(deps, current, { objects, sandbox }, planned, { head, pushed_sha: published.sha }, signal)
      if (typeof joined === 'string') return refused(deps, run, current, joined)
      row = { ...row, head_sha: head }
      head = joined.head
    } else if (published.kind !== 'taken') return published
    else {
      taken.add(current.branch)
      current = { ...current, branch: nextBranch(run, taken), renewed: current.renewed ?? { start_sha: current.sha } }
    }
  }
}

/** The answer says what became of a pull request that is there already. */
async function refused(deps: AskingDeps, run: RunRow, { branch }: Base, message: string): Promise<Published> {
  const pr = (await listPullRequests(deps.db, run.organization_id, [run.id])).find(item => item.head_branch === branch && !isEnded(item))
  if (!pr) return { kind: 'refused', message: `The remote refused the branch ${branch}, so there is no pull request: ${message}` }
  return {
    kind: 'refused',
    message: `The branch ${branch} was not pushed, so pull request ${pr.number} stays at ${pr.head_sha}: ${message}`,
  }
}

/** Null: the pull request of the branch was closed or merged meanwhile. `taken` and so on: as `pushRunBranch` has it. */
async function offer(
  deps: AskingDeps,
  writer: RunWriter,
  run: RunRow,
  base: Base,
  sandbox: Sandbox,
  head: string,
  words: Proposal,
  sent_back: readonly SentBack[],
  control: Control,
): Promise<Published | PushConflict | null> {
  const proposed = await listPullRequests(deps.db, run.organization_id, [run.id])
  const pushed_sha = base.renewed ? null : run.pushed_sha
  const let_go = pushed_sha === null && head === run.abandoned_sha
  if (head === base.sha || let_go || (await isSettled(deps, objectsOfRun(run, base), proposed, head))) return { kind: 'nothing' }
  const objects = objectsOfRun(run, base)
  // Another worker may have taken it out, on another machine.
  if (head !== run.head_sha || base.renewed || !(await hasCommit(deps.git, objects, head))) {
    const failed = await exportCommit({ deps, writer, run, base, sandbox, head }, control.signal)
    if (failed) return failed
  }
  const change = await getChange(deps.db, run.organization_id, run.id)
  if (!change || (change.files_changed === 0 && pushed_sha === null)) return { kind: 'nothing' }
  // An earlier turn may have committed what it could not push, or pushed what it could not propose.
  if (head !== pushed_sha) {
    const next = { base_sha: base.sha, branch: base.branch }
    if (base.renewed) requireOwned(await recordNextBranch(deps.db, run.organization_id, run.id, writer.epoch, next))
    const evaluated = await evaluateTurn(deps, writer, base, { head, pushed_sha, approved_sha: run.approved_sha }, sent_back)
    if (evaluated) return evaluated
    const proposes = run.auto_create_pr && !proposed.some(pr => pr.head_branch === base.branch && !isEnded(pr))
    const failed = await pushRunBranch(deps, writer, base, { head, pushed_sha, proposes }, control)
    if (failed?.kind === 'refused') return refused(deps, run, base, failed.message)
    if (failed) return failed
  }
  // What was refused, or waits for a person, other runs must not be able to read: it enters the mirror now and not before.
  await keepPushed(deps.git, objects, run.turn, head).catch(error => {
    if (!(error instanceof GitError)) throw error
    // The next fetch brings it from the remote.
    deps.log('error', 'a pushed commit could not be kept', { run_id: run.id, error: error.message })
  })
  const known = proposed.some(pr => pr.head_branch === base.branch && pr.head_sha === head)
  if (run.auto_create_pr && !known && !(await propose(deps, writer, run, base, head, words, change, control))) return null
  if (run.auto_create_pr) await evaluateProposed(deps, writer, base, head, words)
  if (run.auto_create_pr) await syncWithForge(deps, run, base.repository)
  return { kind: 'pushed' }
}

/** What was closed or merged as it is, or with what somebody has pushed on top of it, nobody wants proposed again. */
async function isSettled({ git }: WorkerDeps, objects: RunObjects, proposed: readonly PullRequestRow[], head: string): Promise<boolean> {
  for (const pr of proposed.filter(isEnded))
    if (pr.head_sha === head || (await isAncestor(git, objects, head, pr.head_sha).catch(() => false))) return true
  return false
}
