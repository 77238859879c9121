import { findingsOf } from '../../../src/log-analysis/classify-failure.ts'
import { commandOf } from '../../../src/log-analysis/commands.ts'
import type { Entry, Finding } from '../../../src/log-analysis/finding.ts'

/** The entry of a command that ran in a sandbox. */
export const ran = (
  command: string,
  exit_code: number,
  output: string,
  more: Partial<Entry> = {},
): Entry => ({
  agent_run_id: 1,
  seq: 5,
  turn: 1,
  message_type: 'ACTION',
  tool_name: 'shell',
  observation: null,
  duration_ms: 10,
  tool_input: { command },
  tool_output: { status: exit_code === 0 ? 'ok' : 'error', exit_code, output, truncated: false },
  ...more,
})

/** The findings of one entry. */
export function found(entry: Entry): Finding[] {
  const command = commandOf(entry)
  return command === null ? [] : findingsOf(command)
}

export const first = (command: string, exit_code: number, output: string) =>
  found(ran(command, exit_code, output))[0]
