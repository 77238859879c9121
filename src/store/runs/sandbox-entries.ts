import type { SandboxKind } from '../../contract/repositories/sandboxes.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import type { Window } from '../../core/paging.ts'
import type { Db } from '../database.ts'
import { listPage } from '../list-page.ts'
import type { SandboxRow } from '../workspaces/sandboxes.ts'
import type { EntryRow } from './log-entries.ts'
import { toolList } from './tool-list.ts'

/**
 * SQL: which of the entries belong to a sandbox of that kind: setup and checks have sandboxes of their own
 * beside the agent's.
 */
export const insideSandbox: Record<SandboxKind, string> = {
  agent: `(tool_name is null or tool_name not in ${toolList(actionTool.setup_command, actionTool.setup_changes, actionTool.check)})`,
  setup: `tool_name in ${toolList(actionTool.setup_command, actionTool.setup_changes, actionTool.sandbox_secrets, actionTool.egress_blocked)}`,
  check: `tool_name in ${toolList(actionTool.check, actionTool.egress_blocked)}`,
}

/** Returns the trace entries of a sandbox, oldest first, and how many there are in all. */
export async function listSandboxEntries(
  db: Db,
  organization_id: number,
  sandbox: Pick<SandboxRow, 'run_id' | 'kind' | 'first_seq' | 'last_seq'>,
  after_seq: number,
  window: Window,
): Promise<{ rows: EntryRow[]; total: number }> {
  const where = `organization_id = $1 and run_id = $2 and seq >= $3 and ($4::int is null or seq <= $4) and seq > $5 and ${insideSandbox[sandbox.kind]}`
  const list = { columns: 'seq, body', from: 'log_entries', where, key: 'seq', order: 'asc' } as const
  const values = [organization_id, sandbox.run_id, sandbox.first_seq, sandbox.last_seq, after_seq]
  return listPage(db, { name: `list_entries_of_${sandbox.kind}`, ...list }, values, window)
}
