import type { ToolResult, WholeOutput } from '../../agent/tool.ts'
import { isBinary } from '../../core/text/output-text.ts'
import type { Transactional } from '../../store/database.ts'
import type { Addition, AppendResult, NewEntry } from '../../store/runs/append.ts'
import { type NewArtifact, saveArtifact } from '../../store/runs/artifacts.ts'
import { artifactPath } from '../../trace/entry.ts'
import type { RunWriter } from './run-writer.ts'

/** Maximum size of all artifacts of one run; later outputs are only shown truncated. */
const MAX_RUN_BYTES = 32 * 1024 ** 2

/**
 * Appends the result of a tool. If its entry shows only a part of the output, the whole output is stored as an artifact in the same
 * transaction. `entriesOf` gets the path of the artifact, or null.
 */
export async function appendToolResult(
  writer: RunWriter,
  { whole }: ToolResult,
  entriesOf: (artifact_url: string | null) => NewEntry[],
  add: Addition,
  db: Transactional = writer.db,
): Promise<AppendResult> {
  if (whole === null) return writer.append({ ...add, entries: entriesOf(null) }, db)
  const { organization_id, run_id, epoch } = writer
  const bytes = await writer.redactor.bytes(whole.bytes)
  const kept = { bytes, total_bytes: whole.total_bytes + bytes.length - whole.bytes.length }
  return db.transaction(async tx => {
    const id = await saveArtifact(tx, organization_id, run_id, epoch, { ...artifactOf(kept), max_bytes: MAX_RUN_BYTES })
    return writer.append({ ...add, entries: entriesOf(id === undefined ? null : artifactPath(organization_id, id)) }, tx)
  })
}

/** Text that was truncated has a note where something is missing; binary output is stored unchanged. */
function artifactOf({ bytes, total_bytes }: WholeOutput): NewArtifact {
  if (isBinary(bytes)) return { content_type: 'application/octet-stream', content: bytes, total_bytes }
  const missing = total_bytes - bytes.length
  const head = Math.ceil(bytes.length / 2)
  const note = Buffer.from(`\n… ${missing} bytes left out …\n`)
  const content = missing > 0 ? Buffer.concat([bytes.subarray(0, head), note, bytes.subarray(head)]) : bytes
  return { content_type: 'text/plain; charset=utf-8', content, total_bytes }
}
