import { storedJson } from '../core/json/stored-json.ts'
import type { BackgroundRedactor, Redacted } from '../redaction/port.ts'
import { countRedactions } from '../redaction/redact.ts'
import type { NewEntry } from '../store/runs/append.ts'

/** Redacts an entry for storage and counts the values that were removed from it, also before. `json` lacks its opening brace. */
export async function redactedEntry(redactor: BackgroundRedactor, entry: NewEntry): Promise<NewEntry> {
  const json = (await redactor.json(`{${entry.json}`)).slice(1)
  const tool_name = entry.tool_name === null ? null : await redactor.text(entry.tool_name)
  return countedEntry({ ...entry, tool_name, json } as Redacted<NewEntry>)
}

/** Adds to a redacted entry how many values were removed from it. The address of an artifact is its last property. */
export function countedEntry(entry: Redacted<NewEntry>): NewEntry {
  const json = `{${entry.json}`
  const redactions = countRedactions(json)
  if (redactions === null) return entry
  const { artifact_url, ...body } = storedJson<Record<string, unknown>>(json)
  return { ...entry, json: JSON.stringify({ ...body, redactions, artifact_url }).slice(1) }
}
