import { default_setup, type SetupCommandSettingsInput } from '../../contract/repositories/setup-commands.ts'
import { mayBeVariable } from '../../core/sandbox-environment.ts'
import { invalid } from '../../core/service-error.ts'
import { holdRepository, setSetupStatus } from '../../store/access/repositories.ts'
import {
  getSetupCommands as getRow,
  type SetupCommandsRow,
  saveSetupCommands,
} from '../../store/workspaces/setup-commands.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { repositoryNotFound, requireRepository } from './repositories.ts'

const settingsObject = (row: SetupCommandsRow | undefined) =>
  row === undefined
    ? { ...default_setup, commands: [], updated_at: null, updated_by: null }
    : {
        on_failure: row.on_failure,
        timeout_seconds: row.timeout_seconds,
        updated_by: row.updated_by,
        commands: row.commands,
        maintenance_commands: row.maintenance_commands,
        variables: row.variables,
        updated_at: row.updated_at.toISOString(),
      }

/** Throws 404 when the repository is not in this organization. */
export async function getSetupCommands(ctx: Context, repo_id: number) {
  await requireRepository(ctx.db, ctx.organization_id, repo_id)
  return settingsObject(await getRow(ctx.db, ctx.organization_id, repo_id))
}

/**
 * Replaces the settings; absent ones get their defaults. Throws 400 for a variable that controls the sandbox
 * itself.
 */
export async function setSetupCommands(ctx: Context, repo_id: number, input: SetupCommandSettingsInput) {
  const set = { ...default_setup, ...input }
  const reserved = Object.keys(set.variables).find(name => !mayBeVariable(name))
  if (reserved !== undefined)
    throw invalid(['body', 'variables', reserved], 'is a variable that controls the sandbox itself')
  return ctx.db.transaction(async tx => {
    if (!(await holdRepository(tx, ctx.organization_id, repo_id))) throw repositoryNotFound()
    const saved = await saveSetupCommands(tx, ctx.organization_id, repo_id, set, ctx.actor.user_id)
    await setSetupStatus(tx, ctx.organization_id, repo_id, set.commands.length > 0 ? 'SETUP' : 'NOT_SETUP')
    // Only counts are audited: commands may be long, and are in the trace of every run.
    await audit(
      tx,
      ctx,
      'setup_commands.updated',
      { type: 'repository', id: repo_id },
      {
        ...set,
        commands: set.commands.length,
        maintenance_commands: set.maintenance_commands.length,
        variables: Object.keys(set.variables),
      },
    )
    return settingsObject(saved)
  })
}
