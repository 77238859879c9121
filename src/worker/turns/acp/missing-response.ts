import type { JournalRecord } from '../../../agent/conversation.ts'

/**
 * Returns whether the last call of the model by a program has no response, so that what the program did and
 * wrote afterwards is not of the model: the program aborted it, or it was lost with its worker. A call that
 * was made before another one had its response is not the last. Programs also call the model without tools,
 * for a title: such calls count only where no call has tools.
 */
export function isLastResponseMissing(records: readonly JournalRecord[]): boolean {
  const works_with_tools = records.some(record => record.kind === 'model_started' && record.has_tools)
  const since_response = new Set<string | null | undefined>()
  let missing = false
  for (const record of records) {
    if (record.kind === 'model_started' && typeof record.key === 'string') {
      if (record.has_tools || !works_with_tools) since_response.add(record.key)
    } else if (record.kind === 'model_answered' && since_response.has(record.key)) {
      since_response.clear()
      missing = false
    } else if (record.kind === 'model_failed' && since_response.has(record.key))
      missing ||= record.code !== 'not_called' && record.left !== true
  }
  return missing
}
