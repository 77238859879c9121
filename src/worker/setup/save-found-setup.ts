import { default_setup } from '../../contract/repositories/setup-commands.ts'
import { insertAuditEntry } from '../../store/access/audit.ts'
import { holdRepository, setSetupStatus } from '../../store/access/repositories.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { getSetupCommands, saveSetupCommands } from '../../store/workspaces/setup-commands.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'

/**
 * Saves verified commands for a repository that has no setup commands. Returns whether the repository has
 * them now: an earlier worker of the run may have saved them. Commands that people have set are not changed.
 */
export async function saveFound(
  { db }: Pick<WorkerServices, 'db'>,
  writer: RunWriter,
  run: RunRow,
  commands: string[],
): Promise<boolean> {
  const { organization_id, repository_id, user_id } = run
  if (repository_id === null || commands.length === 0) return false
  return db.transaction(async tx => {
    await writer.append({}, tx)
    if (!(await holdRepository(tx, organization_id, repository_id))) return false
    const known = await getSetupCommands(tx, organization_id, repository_id)
    if (known !== undefined) return JSON.stringify(known.commands) === JSON.stringify(commands)
    await saveSetupCommands(tx, organization_id, repository_id, { ...default_setup, commands }, user_id)
    await setSetupStatus(tx, organization_id, repository_id, 'SETUP')
    await insertAuditEntry(tx, {
      organization_id,
      user_id,
      token_id: null,
      request_id: null,
      action: 'setup_commands.updated',
      target_type: 'repository',
      target_id: String(repository_id),
      detail: { commands: commands.length, agent_run_id: run.id },
    })
    return true
  })
}
