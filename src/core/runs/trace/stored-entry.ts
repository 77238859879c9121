/** The keys of each entry, and the literals that can follow them. They are no text: a search for "output" does not find `"tool_output":null`. */
export const entry_keys = {
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
} as const satisfies Record<string, readonly string[]>

const structure = new RegExp(
  Object.entries(entry_keys)
    .map(([name, literals]) => `"${name}":${literals.length === 0 ? '' : `(?:${literals.map(literal => literal.slice(1)).join('|')})?`}`)
    .join('|'),
  'g',
)

/** Returns the text of an entry that a search can find: its JSON without keys that each entry has, and without the literals behind them. */
export const searchedText = (json: string): string => json.replace(structure, '')
