import { actionTool } from '../contract/runs/action-tools.ts'
import { textOf } from './commands.ts'
import { type Entry, type Finding, finding } from './finding.ts'

const REMEDIES: Record<string, string> = {
  off: 'Allow the host for the repository or the organization, or do without it: nothing may go out of this sandbox.',
  not_allowed:
    'Allow the host for the repository, by its name or by the registry it belongs to, or do without it.',
  private_address: 'The operator alone may allow private addresses.',
  cap: 'Have it do less at once: the bound is for all connections of the sandbox together.',
}

/**
 * Returns what the sandbox's proxy refused. `during`: the running command, if known. Null: another kind of
 * entry, or only a count.
 */
export function refusal(entry: Entry): { finding: Finding; during: string | null; setup: boolean } | null {
  const { tool_input: input, tool_output: output } = entry
  if (
    entry.tool_name !== actionTool.egress_blocked ||
    input === null ||
    output === null ||
    output.reason === 'again'
  )
    return null
  const reason = textOf(output.reason) ?? 'not_allowed'
  const host = textOf(input.host)
  const port = typeof input.port === 'number' ? `:${input.port}` : ''
  const at = host === null ? 'A request' : `${host}${port}`
  return {
    during: textOf(output.command),
    setup: input.for === 'setup',
    finding: finding({
      code: 'network_refused',
      severity: 'warning',
      message: `${at} was refused by the rules of the network (${reason})`,
      cause: textOf(output.why),
      mend: REMEDIES[reason] ?? 'Have the program speak plain HTTPS to a host that is allowed.',
      excerpt: at,
      agent_run_id: entry.agent_run_id,
      seq: entry.seq,
    }),
  }
}
