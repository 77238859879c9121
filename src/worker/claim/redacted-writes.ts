import type { BackgroundRedactor } from '../../redaction/port.ts'
import type { NewRecord } from '../../store/runs/append.ts'

/** Messages of people are only redacted for known values; images are not text. */
export async function redactedRecord(redactor: BackgroundRedactor, record: NewRecord): Promise<NewRecord> {
  if (record.kind === 'message' && record.body.includes('"data:image/')) return record
  const body = await redactor.json(record.body, record.kind === 'message' ? 'known' : 'all')
  return body === record.body ? record : { ...record, body }
}
