import { actionTool } from '../contract/runs/action-tools.ts'

const MAX_NAME = 200
/**
 * Terminals and pages do not show these, or show them as something else: control sequences, and what is not a
 * letter, digit or sign of a name.
 */
const CONTROL_SEQUENCE = /\u001b\[[0-9;]*[A-Za-z]/g
const OTHER_CHARACTERS = /[^A-Za-z0-9_.:/ -]/g

/**
 * What the service does for a run, and tools of its own agent that end or steer a turn, have names that mean
 * more: an agent has others.
 */
const common_tools = new Set<string>(['read', 'search', 'write', 'edit', 'shell', 'apply_patch'])
const own_tools = new Set<string>(
  Object.values(actionTool)
    .filter(name => !common_tools.has(name))
    .map(lettersOf),
)

/**
 * Returns a name of an agent's tool as the trace shows it: ASCII, without what is not seen. An empty one is
 * not a name.
 */
export function shownName(name: string): string {
  return name
    .slice(0, MAX_NAME)
    .normalize('NFKC')
    .replaceAll(CONTROL_SEQUENCE, '')
    .replaceAll(OTHER_CHARACTERS, '')
    .trim()
    .slice(0, MAX_NAME)
}

/**
 * Returns the name under which the trace shows a call of an agent: none that reads like a tool of the
 * service. `is_served`: the service calls it.
 */
export function callName(name: string, is_served: (name: string) => boolean): string {
  return own_tools.has(lettersOf(name)) || is_served(name) ? `agent_${name}` : name
}

/** `gitPush` and `git push` read like `git_push`. */
function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
