import { storedJson } from '../core/json/stored-json.ts'
import { shortError } from '../core/text/truncate.ts'
import type { BackgroundRedactor, Redacted } from '../redaction/port.ts'
import { countRedactions } from '../redaction/redact.ts'
import type { NewEntry } from '../store/runs/append.ts'

type Body = Record<'observation' | 'tool_output', Record<string, unknown> | null>

/** Redacts an entry for storage and counts the values that were removed from it, also before. */
export async function redactedEntry(redactor: BackgroundRedactor, entry: NewEntry): Promise<NewEntry> {
  const json = await redactor.json(entry.json)
  const tool_name = entry.tool_name === null ? null : await redactor.text(entry.tool_name)
  return withShortError(countedEntry({ ...entry, tool_name, json } as Redacted<NewEntry>))
}

/** Below this size no message of an error is too long. */
const MAX_CHECKED_CHARS = 2_000

/** Shortens what the entry of a failure quotes from outside; nothing has shortened it before. */
function withShortError(entry: NewEntry): NewEntry {
  if (!entry.failed || entry.json.length < MAX_CHECKED_CHARS) return entry
  const body = storedJson<Body>(entry.json)
  const { observation, tool_output } = body
  if (typeof observation?.message === 'string') observation.message = shortError(observation.message)
  if (typeof tool_output?.error === 'string') tool_output.error = shortError(tool_output.error)
  return { ...entry, json: JSON.stringify(body) }
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
