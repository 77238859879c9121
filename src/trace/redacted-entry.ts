import { storedJson } from '../core/json/stored-json.ts'
import type { BackgroundRedactor, Redacted } from '../redaction/port.ts'
import { countRedactions } from '../redaction/redact.ts'
import type { NewEntry } from '../store/runs/append.ts'

/** Redacts an entry for storage and counts the values that were removed from it, also before. */
export async function redactedEntry(redactor: BackgroundRedactor, entry: NewEntry): Promise<NewEntry> {
  const json = await redactor.json(entry.json)
  const tool_name = entry.tool_name === null ? null : await redactor.text(entry.tool_name)
  return countedEntry({ ...entry, tool_name, json } as Redacted<NewEntry>)
}

/** Adds to a redacted entry how many values were removed from it. */
export function countedEntry(entry: Redacted<NewEntry>): NewEntry {
  const redactions = countRedactions(entry.json)
  if (redactions === null) return entry
  return {
    ...entry,
    json: JSON.stringify({ ...storedJson<Record<string, unknown>>(entry.json), redactions }),
  }
}
