import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Proposal, proposal } from '../agent/phases/pull-request.ts'
import { traceUrl } from '../core/trace-url.ts'
import { importBundle } from '../git/bundles.ts'
import { readChanges } from '../git/changes.ts'
import { GitError } from '../git/git-error.ts'
import { pushBranch } from '../git/push.ts'
import { bundleCommand, commitCommand, parseCommit } from '../git/workspace-commands.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { getChange, recordPush, saveChange } from '../store/changes.ts'
import { insertEvent } from '../store/events.ts'
import { listPullRequests, savePullRequest } from '../store/pull-requests.ts'
import type { RunRow } from '../store/runs.ts'
import { serviceAction } from '../trace/agent-entries.ts'
import { entry, errorEntry } from '../trace/entry.ts'
import type { Base } from './base.ts'
import type { Claim } from './claim.ts'
import { FencedError } from './claim.ts'
import type { WorkerDeps } from './settings.ts'
import { workspaceRepository } from './workspace.ts'

const COMMIT_MS = 5 * 60_000
const BUNDLE_BYTES = 512 * 1024 ** 2
const PATCH_BYTES = 2 * 1024 ** 2
const PUSH_ATTEMPTS = 3

/** `pushed` and `nothing` end well; `refused`: the remote said no, the work is kept; `failed`: it could not be brought out or reached. */
export type Published =
  | { kind: 'nothing' }
  | { kind: 'pushed' }
  | { kind: 'refused'; message: string }
  | { kind: 'failed'; reason: 'git_unavailable' | 'agent_error' | 'disk_quota'; code: string; message: string }

/** Commit inside → bundle out → check and import → push one refspec → pull request (architecture: git is never run in the agent's tree). */
export async function publish(
  deps: WorkerDeps,
  claim: Claim,
  run: RunRow,
  base: Base,
  sandbox: Sandbox,
  answer: string,
  signal: AbortSignal,
): Promise<Published> {
  const words = proposal({
    title: run.title,
    answer,
    web_url: traceUrl(deps.base_url, run.id),
    scripted: deps.models.get(run.model)?.scripted ?? false,
    trailer: deps.author.trailer,
  })
  const made = await commit(deps, base, sandbox, words.commit_message, signal)
  if ('kind' in made) return made
  const { head } = made
  if (head === null) return { kind: 'nothing' }
  // The last commit of a branch that was let go is nothing new either.
  if (head === base.sha || (run.pushed_sha === null && head === run.let_go_sha)) return { kind: 'nothing' }
  if (head !== run.head_sha) {
    const failed = await takeOut(deps, claim, run, base, sandbox, head, signal)
    if (failed) return failed
  }
  const change = await getChange(deps.db, run.organization_id, run.id)
  if (!change || (change.files_changed === 0 && run.pushed_sha === null)) return { kind: 'nothing' }
  // An earlier turn may have committed what it could not push, or pushed what it could not propose.
  if (head !== run.pushed_sha) {
    const failed = await push(deps, claim, base, head, signal)
    if (failed) return failed
  }
  if (run.auto_create_pr && !(await isProposed(deps, run, base, head))) await propose(deps, claim, run, base, head, words, change)
  return { kind: 'pushed' }
}

/** The commit and what it changes, brought to the host and written down. */
async function takeOut(
  deps: WorkerDeps,
  claim: Claim,
  run: RunRow,
  base: Base,
  sandbox: Sandbox,
  head: string,
  signal: AbortSignal,
): Promise<Published | null> {
  const failed = await bringOut(deps, claim, run, base, sandbox, head, signal)
  if (failed) return failed
  const changes = await readChanges(deps.git, base.repository.id, base.sha, head, { max_patch_bytes: PATCH_BYTES })
  const change = { ...changes, base_sha: base.sha, head_sha: head, files: JSON.stringify(changes.files) }
  if (!(await saveChange(deps.db, run.organization_id, run.id, claim.epoch, change)))
    throw new FencedError('the run belongs to another owner')
  return null
}

async function isProposed(deps: WorkerDeps, run: RunRow, base: Base, head: string): Promise<boolean> {
  const known = await listPullRequests(deps.db, run.organization_id, [run.id])
  return known.some(pr => pr.head_branch === base.branch && pr.head_sha === head)
}

async function commit(
  deps: WorkerDeps,
  base: Base,
  sandbox: Sandbox,
  message: string,
  signal: AbortSignal,
): Promise<{ head: string | null } | Published> {
  const command = commitCommand({ ...workspaceRepository(deps, base, base.sha), message })
  const result = await sandbox.exec({ command, shell: 'separate', timeout_ms: COMMIT_MS, max_output_bytes: 16 * 1024, signal })
  const output = Buffer.from(result.output).toString('utf8')
  const made = result.status === 'exited' ? parseCommit(result.exit_code, output) : null
  if (made !== null) return { head: made.head_sha }
  const message_text = `The changes could not be committed: ${output.trim().slice(-1_000) || result.status}`
  return { kind: 'failed', reason: 'agent_error', code: 'commit_failed', message: message_text }
}

async function bringOut(
  deps: WorkerDeps,
  claim: Claim,
  run: RunRow,
  base: Base,
  sandbox: Sandbox,
  head: string,
  signal: AbortSignal,
): Promise<Published | null> {
  const file = join(deps.folders.bundles, `${run.id}-${claim.epoch}.bundle`)
  const bundle = await open(file, 'w', 0o600)
  let bytes = 0
  const digest = createHash('sha256')
  try {
    if (deps.users.service) await bundle.chown(deps.users.service.uid, deps.users.service.gid)
    const result = await sandbox.stream(
      { command: bundleCommand({ base_sha: base.sha, head_sha: head }), timeout_ms: COMMIT_MS, max_output_bytes: 16 * 1024, signal },
      async chunk => {
        bytes += chunk.length
        if (bytes > BUNDLE_BYTES) throw new RangeError('bundle too large')
        digest.update(chunk)
        await bundle.write(chunk)
      },
    )
    if (result.status !== 'exited' || result.exit_code !== 0)
      return {
        kind: 'failed',
        reason: 'agent_error',
        code: 'bundle_failed',
        message: `The commit could not be brought out of the sandbox: ${Buffer.from(result.output).toString('utf8').trim().slice(-500) || result.status}`,
      }
    await importBundle(deps.git, base.repository.id, file, { run_id: run.id, turn: run.turn, head_sha: head })
    return null
  } catch (error) {
    if (error instanceof RangeError)
      return {
        kind: 'failed',
        reason: 'disk_quota',
        code: 'change_too_large',
        message: `The change is larger than ${BUNDLE_BYTES / 1024 ** 2} MiB.`,
      }
    if (error instanceof GitError) return { kind: 'failed', reason: 'agent_error', code: `bundle_${error.code}`, message: error.message }
    throw error
  } finally {
    await bundle.close()
    await rm(file, { force: true })
  }
}

async function push(deps: WorkerDeps, claim: Claim, base: Base, head: string, signal: AbortSignal): Promise<Published | null> {
  const input = { repository: base.repository.url, branch: base.branch, sha: head }
  for (let attempt = 1; ; attempt++) {
    const started = performance.now()
    try {
      const { status } = await pushBranch(deps.git, base.repository, head, base.branch, { signal })
      await deps.db.transaction(async tx => {
        await claim.append(
          { entries: [serviceAction('git_push', input, { status: 'ok', result: status }, performance.now() - started)] },
          tx,
        )
        await recordPush(tx, claim.organization_id, claim.run_id, claim.epoch, base.branch, head)
      })
      return null
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      const refused = error.code === 'rejected'
      const again = ['unreachable', 'timeout', 'failed'].includes(error.code) && attempt < PUSH_ATTEMPTS && !signal.aborted
      const details = { code: error.code, message: error.message, http_status: null, retryable: !refused, attempt }
      const known = errorEntry({ code: `push_${error.code}`, message: error.message, retryable: !refused, phase: 'push' }, 'git_push')
      await claim.append({
        entries: [
          serviceAction('git_push', input, { status: 'error', error: error.message }, performance.now() - started),
          // A failure that ends the run has its ERROR as the last entry of the turn.
          ...(refused || again ? [known] : []),
          entry({ message_type: 'PR_CREATION_FAILED', observation: details, tool_name: 'git_push', tool_input: input }),
        ],
      })
      if (refused) return { kind: 'refused', message: error.message }
      if (!again) return { kind: 'failed', reason: 'git_unavailable', code: `push_${error.code}`, message: error.message }
      await delay(1_000 * 2 ** attempt, undefined, { signal }).catch(() => {})
    }
  }
}

async function propose(
  deps: WorkerDeps,
  claim: Claim,
  run: RunRow,
  base: Base,
  head: string,
  words: Proposal,
  changes: { files_changed: number; additions: number; deletions: number },
): Promise<void> {
  const counts = { files_changed: changes.files_changed, additions: changes.additions, deletions: changes.deletions }
  await deps.db.transaction(async tx => {
    // Who stopped the run, or removed it from its pull request, does not want another.
    if ((await claim.append({}, tx)).status === 'cancelling') return
    const pr = await savePullRequest(tx, {
      organization_id: run.organization_id,
      repository_id: base.repository.id,
      run_id: run.id,
      title: words.title,
      body: words.body,
      url: `${traceUrl(deps.base_url, run.id)}?view=changes`,
      head_branch: base.branch,
      base_branch: base.ref,
      base_sha: base.sha,
      head_sha: head,
      ...counts,
    })
    if (!pr) return
    if (pr.created) {
      const observation = {
        pr_number: pr.number,
        url: pr.url,
        head_branch: pr.head_branch,
        base_branch: pr.base_branch,
        head_sha: head,
        title: pr.title,
        ...counts,
      }
      await claim.append({ entries: [entry({ message_type: 'INITIAL_PR_GENERATION', observation })] }, tx)
    }
    await insertEvent(tx, run.organization_id, run.id, 'agent_run.pull_request', {
      pr_number: pr.number,
      state: pr.state,
      created: pr.created,
    })
  })
}
