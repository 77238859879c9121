import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Failure } from '../../core/runs/outcome.ts'
import { GitError } from '../../git/process/git-error.ts'
import { importBundle } from '../../git/publish/bundles.ts'
import { type Changes, readChanges } from '../../git/read/changes.ts'
import { bundleCommand, NOTHING_TO_BUNDLE } from '../../git/workspace/workspace-commands.ts'
import { saveChange } from '../../store/changes.ts'
import { objectsOfRun } from '../base/base.ts'
import { shownReason } from '../base/checkout.ts'
import { requireOwned } from '../claim/fenced-error.ts'
import { requireGitAlive } from '../claim/killed-program.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { tooSlow } from './commit-turn.ts'
import { type CommittedPublication, notPublished } from './publication.ts'

const BUNDLE_BYTES = 512 * 1024 ** 2
const PATCH_BYTES = 2 * 1024 ** 2

/**
 * Returns what the head of a round changes since a commit. Read once for each commit: the record and the
 * review need the same.
 */
export type ChangeReader = (since: string) => Promise<Changes>

export function changeReader({ deps, run, base, head }: CommittedPublication): ChangeReader {
  const read = new Map<string, Promise<Changes>>()
  return since => {
    const known =
      read.get(since) ??
      readChanges(deps.git, objectsOfRun(run, base), since, head, { max_patch_bytes: PATCH_BYTES })
    read.set(since, known)
    return known
  }
}

/**
 * Imports the commit into the run's own objects on the host and records what it changes. No other run sees it
 * before it is pushed.
 */
export async function exportCommit(
  committed: CommittedPublication,
  changesSince: ChangeReader,
): Promise<Failure | null> {
  const { deps, writer, run, base, head } = committed
  const failed = await importFromSandbox(committed)
  if (failed) return failed
  const changes = await redactedChanges(writer, await changesSince(base.sha))
  const change = { ...changes, base_sha: base.sha, head_sha: head }
  requireOwned(await saveChange(deps.db, run.organization_id, run.id, writer.epoch, change))
  return null
}

type ChangedFile = Changes['files'][number]

const withPaths = (file: ChangedFile, [path, old_path]: readonly [string, string | null] = ['', null]) => ({
  ...file,
  path,
  old_path,
})

/** Only its texts: a secret may equal the status of a file. */
async function redactedChanges({ redactor }: RunWriter, changes: Changes): Promise<Changes> {
  const { files, patch } = changes
  const [paths, shown] = await Promise.all([
    redactor.value(files.map(({ path, old_path }) => [path, old_path] as const)),
    redactor.text(patch),
  ])
  return { ...changes, files: files.map((file, i) => withPaths(file, paths[i])), patch: shown }
}

async function importFromSandbox(committed: CommittedPublication): Promise<Failure | null> {
  const { deps, writer, run, base, head } = committed
  const file = join(deps.folders.bundles, `${run.id}-${writer.epoch}.bundle`)
  await rm(file, { force: true })
  const bundle = await open(file, 'wx', 0o600)
  try {
    const failed = await writeBundle(committed, bundle)
    if (failed) return failed
    await importBundle(deps.git, objectsOfRun(run, base), file, { head_sha: head })
    return null
  } catch (error) {
    if (error instanceof RangeError)
      return notPublished(
        'disk_quota',
        'change_too_large',
        `The change is larger than ${BUNDLE_BYTES / 1024 ** 2} MiB.`,
      )
    if (error instanceof GitError && error.code !== 'killed')
      return notPublished('agent_error', `bundle_${error.code}`, error.message)
    throw error
  } finally {
    await bundle.close()
    await rm(file, { force: true })
  }
}

/** Throws RangeError for a bundle that is too large. */
async function writeBundle(
  { deps, writer, base, head, sandbox, control }: CommittedPublication,
  bundle: FileHandle,
): Promise<Failure | null> {
  let bytes = 0
  const command = bundleCommand({ base_sha: base.sha, head_sha: head })
  const bounds = { timeout_ms: deps.git_limits.push_ms, max_output_bytes: 16 * 1024, signal: control.signal }
  const result = await sandbox.stream({ command, ...bounds }, async chunk => {
    bytes += chunk.length
    if (bytes > BUNDLE_BYTES) throw new RangeError('bundle too large')
    // Writes all of it, where `write` may stop early.
    await bundle.appendFile(chunk)
  })
  if (result.status === 'timeout')
    return tooSlow('bundle_timeout', 'The commit was not exported from the sandbox', deps.git_limits.push_ms)
  requireGitAlive(result)
  if (result.exit_code === NOTHING_TO_BUNDLE) await bundle.truncate()
  if (result.exit_code === 0 || result.exit_code === NOTHING_TO_BUNDLE) return null
  const reason = await shownReason(writer, {
    output: Buffer.from(result.output).toString('utf8'),
    ended: result.status,
  })
  return notPublished(
    'agent_error',
    'bundle_failed',
    `The commit could not be exported from the sandbox: ${reason}`,
  )
}
