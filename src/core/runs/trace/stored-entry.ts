import type { LogEntry } from '../../../contract/runs/logs.ts'

/**
 * What the writer of an entry chose: a JSON object as text, its properties in any order, and apart from it
 * the path of the artifact with the whole output, as `artifactPath` returns it.
 */
export type EntryContent = { json: string; artifact_url: string | null }

type Head<Value> = Record<'agent_run_id' | 'seq' | 'created_at' | 'turn', Value>

/**
 * Returns the start of a stored entry. Only this module knows how an entry is stored: as the JSON text that
 * readers get, except that the address of its artifact is a path. So a page joins texts of any size and
 * parses none. The head comes first, because only the database knows its values. The artifact comes last,
 * where it is found without reading the text.
 */
export const entryHead = ({ agent_run_id, seq, created_at, turn }: Head<string | number>): string =>
  `{"agent_run_id":${agent_run_id},"seq":${seq},"created_at":"${created_at}","turn":${turn},`

/** Returns the start of a stored entry as SQL, from the SQL of its values. */
export function entryHeadSql(of: Head<string>): string {
  const spliced = Object.entries(of).map(([key, sql]) => [key, `' || ${sql} || '`])
  return `'${entryHead(Object.fromEntries(spliced) as Head<string>)}'`
}

/** Returns the status of a tool call as SQL, from the SQL of a stored entry. */
export const outputStatusSql = (body: string): string => `${body}::json #>> '{tool_output,status}'`

const ARTIFACT = ',"artifact_url":'

/** Returns the stored text behind the head. */
export const entryTail = ({ json, artifact_url }: EntryContent): string =>
  `${json.slice(1, -1)}${ARTIFACT}${JSON.stringify(artifact_url)}}`

const last_path = /^"(\/v1\/organizations\/\d+\/artifacts\/\d+)"\}$/

export const artifactPath = (organization_id: number, id: number): string =>
  `/v1/organizations/${organization_id}/artifacts/${id}`

/** Converts a stored entry for display: the path of its artifact becomes an address of this service. */
export function shownEntry(body: string, base_url: string): string {
  const at = body.lastIndexOf(ARTIFACT) + ARTIFACT.length
  const path = last_path.exec(body.slice(at))?.[1]
  return path === undefined ? body : `${body.slice(0, at)}${JSON.stringify(base_url + path)}}`
}

/**
 * The keys of each entry, and the literals that can follow them. They are not text: a search for "output"
 * does not find `"tool_output":null`.
 */
export const entry_keys: Record<Exclude<keyof LogEntry, 'redactions'>, readonly string[]> = {
  agent_run_id: [],
  seq: [],
  created_at: [],
  turn: [],
  message_type: [],
  thought: [':null'],
  tool_name: [':null'],
  tool_input: [':null'],
  tool_output: [':null'],
  observation: [':null'],
  duration_ms: [':null'],
  truncated: [':true', ':false'],
  artifact_url: [':null'],
}

const structure = new RegExp(
  Object.entries(entry_keys)
    .map(
      ([name, literals]) =>
        `"${name}":${literals.length === 0 ? '' : `(?:${literals.map(literal => literal.slice(1)).join('|')})?`}`,
    )
    .join('|'),
  'g',
)

/**
 * Returns the text of an entry that a search can find: its JSON without keys that each entry has, and without
 * the literals behind them.
 */
export const searchedText = (json: string): string => json.replace(structure, '')
