import { type Db, firstRow } from '../database.ts'
import { isHeldBy } from '../fence.ts'

export type NewArtifact = {
  content_type: string
  content: Uint8Array
  /** Size of the whole output. */
  total_bytes: number
}

/**
 * Saves the whole output of the entry that is appended next in the same transaction, under the fence. Returns
 * undefined, and saves nothing, when the run has less than that left of `max_bytes` for all of its artifacts,
 * or another owner.
 */
export async function saveArtifact(
  db: Db,
  organization_id: number,
  run_id: number,
  epoch: number,
  artifact: NewArtifact & { max_bytes: number },
): Promise<number | undefined> {
  const { rows } = await db.query<{ id: number }>({
    name: 'save_artifact',
    text: `with run as (
        update runs
        set artifact_bytes = artifact_bytes + length($5::bytea)
        where organization_id = $1
          and id = $2
          and ${isHeldBy('$3')}
          and artifact_bytes + length($5::bytea) <= $7
        returning organization_id, id, total_logs
      )
      insert into artifacts (organization_id, run_id, seq, content_type, content, total_bytes)
      select run.organization_id, run.id, run.total_logs + 1, $4, $5, $6
      from run
      returning id`,
    values: [
      organization_id,
      run_id,
      epoch,
      artifact.content_type,
      artifact.content,
      artifact.total_bytes,
      artifact.max_bytes,
    ],
  })
  return rows[0]?.id
}

export type ArtifactRow = { run_id: number; seq: number; content_type: string; content: Buffer }

/** Returns the whole output of a tool, redacted like its entry. */
export function getArtifact(db: Db, organization_id: number, id: number): Promise<ArtifactRow | undefined> {
  return firstRow<ArtifactRow>(db, {
    name: 'get_artifact',
    text: `select run_id, seq, content_type, content
      from artifacts
      where organization_id = $1 and id = $2`,
    values: [organization_id, id],
  })
}
