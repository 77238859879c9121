import type { Failure } from '../../core/runs/outcome.ts'
import { GitError } from '../../git/process/git-error.ts'
import { importBundle } from '../../git/publish/bundles.ts'
import { type BranchHistory, readHistory } from '../../git/read/branch-history.ts'
import { type Changes, readChanges } from '../../git/read/changes.ts'
import { type NewObjects, storedNewObjects } from '../../git/read/new-objects.ts'
import { bundleCommand } from '../../git/workspace/bundle-command.ts'
import { saveChange } from '../../store/changes.ts'
import { objectsOfRun } from '../base/base.ts'
import { MIRROR_INSIDE, shownReason } from '../base/checkout.ts'
import { requireOwned } from '../claim/fenced-error.ts'
import { requireGitAlive } from '../claim/killed-program.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { tooLarge, tooSlow } from './commit-turn.ts'
import { type CommittedPublication, notPublished } from './publication.ts'

const PATCH_BYTES = 2 * 1024 ** 2

/**
 * Reads the commits of the head of a round: their changes, their objects and their messages since a commit.
 * Each is read once: the import, the record and the review need the same.
 */
export type HeadReader = {
  changesSince(since: string): Promise<Changes>
  newObjectsSince(since: string): Promise<NewObjects>
  historySince(since: string): Promise<BranchHistory>
  /** The import has read what is new since the base. */
  imported(objects: NewObjects): void
}

export function headReader({ deps, run, base, head }: CommittedPublication): HeadReader {
  const objects = objectsOfRun(run, base)
  const new_objects = new Map<string, Promise<NewObjects>>()
  return {
    changesSince: once(since =>
      readChanges(deps.git, objects, since, head, { max_patch_bytes: PATCH_BYTES }),
    ),
    historySince: once(since => readHistory(deps.git, objects, since, head)),
    newObjectsSince: once(
      since => storedNewObjects(deps.git, objects, { base_sha: since, head_sha: head }),
      new_objects,
    ),
    imported: found => void new_objects.set(base.sha, Promise.resolve(found)),
  }
}

function once<T>(read: (since: string) => Promise<T>, known = new Map<string, Promise<T>>()) {
  return (since: string): Promise<T> => {
    const found = known.get(since) ?? read(since)
    known.set(since, found)
    return found
  }
}

/**
 * Imports the commit into the run's own objects on the host and records what it changes. No other run sees it
 * before it is pushed.
 */
export async function exportCommit(
  committed: CommittedPublication,
  reader: HeadReader,
): Promise<Failure | null> {
  const { deps, writer, run, base, head } = committed
  const failed = await importFromSandbox(committed, reader)
  if (failed) return failed
  const changes = await redactedChanges(writer, await reader.changesSince(base.sha))
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

async function importFromSandbox(
  committed: CommittedPublication,
  reader: HeadReader,
): Promise<Failure | null> {
  const { deps, run, base, head, bundle } = committed
  const failed = bundle.head === head ? null : await writeBundle(committed)
  if (failed) return failed
  try {
    const range = { head_sha: head, base_sha: base.sha }
    const found = await importBundle(deps.git, objectsOfRun(run, base), bundle.path, range)
    if (found !== null) reader.imported(found)
    return null
  } catch (error) {
    if (error instanceof GitError && error.code !== 'killed')
      return notPublished('agent_error', `bundle_${error.code}`, error.message)
    throw error
  }
}

/** For a commit that is not the one of the workspace's last command, which has written its bundle. */
async function writeBundle(committed: CommittedPublication): Promise<Failure | null> {
  const { deps, writer, base, head, sandbox, control, bundle } = committed
  const command = bundleCommand({ mirror_inside: MIRROR_INSIDE, base_sha: base.sha, head_sha: head })
  const bounds = { timeout_ms: deps.git_limits.push_ms, max_output_bytes: 16 * 1024, signal: control.signal }
  const result = await bundle.fill(sink => sandbox.stream({ command, ...bounds }, sink))
  if (result === 'too_large') return tooLarge()
  if (result.status === 'timeout')
    return tooSlow('bundle_timeout', 'The commit was not exported from the sandbox', deps.git_limits.push_ms)
  requireGitAlive(result)
  if (result.exit_code === 0) return null
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
