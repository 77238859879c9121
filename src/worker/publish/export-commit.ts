import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from '../../git/process/git-error.ts'
import { importBundle } from '../../git/publish/bundles.ts'
import { readChanges } from '../../git/read/changes.ts'
import { bundleCommand } from '../../git/workspace/workspace-commands.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { saveChange } from '../../store/changes.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { type Base, objectsOfRun } from '../base/base.ts'
import { requireOwned } from '../claim/fencing.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import { tooSlow } from './commit-turn.ts'
import type { NotPublished } from './publish.ts'

const BUNDLE_BYTES = 512 * 1024 ** 2
const PATCH_BYTES = 2 * 1024 ** 2

type Commit = { deps: WorkerDeps; writer: RunWriter; run: RunRow; base: Base; sandbox: Sandbox; head: string }

/** The commit and what it changes, brought to the host and written down; no other run sees it before it is pushed. */
export async function exportCommit(commit: Commit, signal: AbortSignal): Promise<NotPublished | null> {
  const { deps, writer, run, base, head } = commit
  const failed = await bringOut(commit, signal)
  if (failed) return failed
  const read = await readChanges(deps.git, objectsOfRun(run, base), base.sha, head, { max_patch_bytes: PATCH_BYTES })
  const changes = await writer.redactor.value(read)
  const change = { ...changes, base_sha: base.sha, head_sha: head, files: JSON.stringify(changes.files) }
  requireOwned(await saveChange(deps.db, run.organization_id, run.id, writer.epoch, change))
  return null
}

async function bringOut({ deps, writer, run, base, sandbox, head }: Commit, signal: AbortSignal): Promise<NotPublished | null> {
  const file = join(deps.folders.bundles, `${run.id}-${writer.epoch}.bundle`)
  await rm(file, { force: true })
  const bundle = await open(file, 'wx', 0o600)
  let bytes = 0
  const digest = createHash('sha256')
  try {
    const result = await sandbox.stream(
      {
        command: bundleCommand({ base_sha: base.sha, head_sha: head }),
        timeout_ms: deps.git_limits.push_ms,
        max_output_bytes: 16 * 1024,
        signal,
      },
      async chunk => {
        bytes += chunk.length
        if (bytes > BUNDLE_BYTES) throw new RangeError('bundle too large')
        digest.update(chunk)
        await bundle.write(chunk)
      },
    )
    if (result.status === 'timeout')
      return tooSlow('bundle_timeout', 'The commit was not brought out of the sandbox', deps.git_limits.push_ms)
    if (result.status !== 'exited' || result.exit_code !== 0)
      return {
        kind: 'failed',
        reason: 'agent_error',
        code: 'bundle_failed',
        message: `The commit could not be brought out of the sandbox: ${Buffer.from(result.output).toString('utf8').trim().slice(-500) || result.status}`,
      }
    await importBundle(deps.git, objectsOfRun(run, base), file, { head_sha: head })
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
