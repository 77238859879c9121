import { ServiceError } from '../../core/service-error.ts'
import { type ArtifactRow, getArtifact as getArtifactRow } from '../../store/runs/artifacts.ts'
import type { Context } from '../context.ts'

/** Returns the whole output of a tool, byte for byte, and a file name. Throws 404 when it is not in this organization. */
export async function getArtifact(ctx: Context, id: number): Promise<ArtifactRow & { file_name: string }> {
  const artifact = await getArtifactRow(ctx.db, ctx.organization_id, id)
  if (!artifact) throw new ServiceError('not_found', 'Artifact not found.')
  const ending = artifact.content_type.startsWith('text/') ? 'txt' : 'bin'
  return { ...artifact, file_name: `run-${artifact.run_id}-entry-${artifact.seq}.${ending}` }
}
