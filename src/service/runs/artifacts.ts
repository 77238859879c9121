import type { MessageImages, MessageImagesQuery } from '../../contract/runs/message-images.ts'
import { ServiceError } from '../../core/service-error.ts'
import { imagesOf } from '../../core/text/tool-result-text.ts'
import { type ArtifactRow, getArtifact as getArtifactRow } from '../../store/runs/artifacts.ts'
import { toolOutputsAt } from '../../store/runs/journal.ts'
import { listMessageImages } from '../../store/runs/messages.ts'
import type { Context } from '../context.ts'
import { requireRun } from './runs.ts'

/**
 * Returns the whole output of a tool, byte for byte, and a file name. Throws 404 when it is not in this
 * organization.
 */
export async function getArtifact(ctx: Context, id: number): Promise<ArtifactRow & { file_name: string }> {
  const artifact = await getArtifactRow(ctx.db, ctx.organization_id, id)
  if (!artifact) throw new ServiceError('not_found', 'Artifact not found.')
  const ending = artifact.content_type.startsWith('text/') ? 'txt' : 'bin'
  return { ...artifact, file_name: `run-${artifact.run_id}-entry-${artifact.seq}.${ending}` }
}

/**
 * Returns the images of a message or of the result of a tool (specification.md#logs). 404 when the run is not
 * in this organization.
 */
export async function getMessageImages(
  ctx: Context,
  run_id: number,
  { seq }: MessageImagesQuery,
): Promise<MessageImages> {
  const { id } = await requireRun(ctx.db, ctx.organization_id, run_id)
  const sent = await listMessageImages(ctx.db, ctx.organization_id, id, seq)
  const images =
    sent.length > 0 ? sent : (await toolOutputsAt(ctx.db, ctx.organization_id, id, seq)).flatMap(imagesOf)
  return { agent_run_id: id, seq, images }
}
