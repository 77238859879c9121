import type { ToolResult, WholeOutput } from '../../agent/tool.ts'
import { artifactPath } from '../../core/runs/trace/stored-entry.ts'
import { isBinary } from '../../core/text/output-text.ts'
import type { Redacted } from '../../redaction/port.ts'
import type { Transactional } from '../../store/database.ts'
import type { AppendResult, NewEntry } from '../../store/runs/append.ts'
import { type NewArtifact, saveArtifact } from '../../store/runs/artifacts.ts'
import type { RedactedAddition, RunWriter } from './run-writer.ts'

/** Maximum size of all artifacts of one run; later outputs are only shown truncated. */
const MAX_RUN_BYTES = 32 * 1024 ** 2

/**
 * Appends the result of a tool. If its entry shows only a part of the output, the whole output is stored as
 * an artifact in the same transaction. `entriesOf` gets the path of the artifact, or null.
 */
export async function appendToolResult(
  writer: RunWriter,
  { whole }: Redacted<ToolResult>,
  entriesOf: (artifact_url: string | null) => Redacted<NewEntry>[],
  add: Omit<RedactedAddition, 'entries'>,
  db: Transactional = writer.db,
): Promise<AppendResult> {
  if (whole === null) return writer.appendRedacted({ ...add, entries: entriesOf(null) }, db)
  const { organization_id, run_id, epoch } = writer
  return db.transaction(async tx => {
    const id = await saveArtifact(tx, organization_id, run_id, epoch, {
      ...artifactOf(whole),
      max_bytes: MAX_RUN_BYTES,
    })
    return writer.appendRedacted(
      { ...add, entries: entriesOf(id === undefined ? null : artifactPath(organization_id, id)) },
      tx,
    )
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
