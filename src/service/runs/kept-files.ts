import { tools_without_effect } from '../../core/runs/file-tools.ts'
import { CANARY, canaryOf } from '../../core/secrets/run-secrets.ts'
import { ServiceError } from '../../core/service-error.ts'
import type { BackgroundRedactor } from '../../redaction/port.ts'
import type { Db } from '../../store/database.ts'
import { hasChangedFiles } from '../../store/runs/forks.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { type CheckpointRow, checkpointAt, newestKeptSeq } from '../../store/workspaces/checkpoints.ts'
import type { Context } from '../context.ts'
import { secretsRedactor } from '../secrets/known-secrets.ts'

type Run = Pick<RunRow, 'organization_id' | 'id' | 'total_logs'>

/**
 * Returns the checkpoint with the files of a run after entry `seq`; null: nothing had changed them since the
 * start. Throws 409 when they are not kept, with the newest entry whose files are. `all`: also throws when
 * files were left out.
 */
export async function requireFilesAt(
  db: Db,
  run: Run,
  seq: number,
  all: boolean,
): Promise<CheckpointRow | null> {
  const found = await checkpointAt(db, run.organization_id, run.id, seq, tools_without_effect)
  if (found?.covers && (!all || found.left_out === null)) return found
  if (!found && !(await hasChangedFiles(db, run.organization_id, run.id, seq, tools_without_effect)))
    return null
  const newest = await newestFiles(db, run)
  const which = found?.covers ? 'Some files' : 'The files'
  const newest_kept =
    newest === undefined
      ? 'They are not kept after any entry.'
      : `The newest entry after which they are kept is ${newest}.`
  throw new ServiceError('conflict', `${which} of the run after entry ${seq} are not kept. ${newest_kept}`)
}

/** Returns the last entry after which all files of a run are kept; undefined when there is none. */
export const newestFiles = (db: Db, run: Run): Promise<number | undefined> =>
  newestKeptSeq(db, run.organization_id, run.id, tools_without_effect)

/**
 * Returns the redactor of kept files: they are as the run left them, so secrets in them have not been
 * redacted yet.
 */
export const filesRedactor = (
  ctx: Context,
  run: Pick<RunRow, 'organization_id' | 'id' | 'repository_id'>,
): Promise<BackgroundRedactor> =>
  secretsRedactor(ctx.db, ctx, run.repository_id, [
    { name: CANARY, value: canaryOf(ctx.sealer, run.organization_id, run.id) },
  ])

/** Throws 503 for an error of git; any other error is thrown unchanged. */
export function filesUnavailable(error: unknown): never {
  if (error instanceof Error && error.name === 'GitError')
    throw new ServiceError('unavailable', `The files are unavailable now: ${error.message}`, {
      headers: { 'retry-after': '5' },
    })
  throw error
}
