import { storedJson } from '../core/json.ts'
import type { BackgroundRedactor } from '../redaction/port.ts'
import { countRedactions } from '../redaction/redact.ts'
import type { NewEntry } from '../store/runs/append.ts'

/**
 * Redacts an entry for storage and counts the values that were removed from it, also before. `json` lacks its opening brace, and the address of
 * an artifact is its last property.
 */
export async function redactedEntry(redactor: BackgroundRedactor, entry: NewEntry): Promise<NewEntry> {
  const json = await redactor.json(`{${entry.json}`)
  const tool_name = entry.tool_name === null ? null : await redactor.text(entry.tool_name)
  const redactions = countRedactions(json)
  if (redactions === null) return entry
  const { artifact_url, ...body } = storedJson<Record<string, unknown>>(json)
  return { ...entry, tool_name, json: JSON.stringify({ ...body, redactions, artifact_url }).slice(1) }
}
