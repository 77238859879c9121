import { FoundSetupCommands } from '../../contract/repositories/setup-commands.ts'
import { parseJson } from '../../core/json/parse-json.ts'
import { getCheckCommands } from '../../store/pull-requests/check-commands.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { lastFoundSetup } from '../../store/workspaces/setup-commands.ts'
import type { WorkerServices } from '../services.ts'
import type { Setup } from './run-setup.ts'

/**
 * Commands that passed after the setup commands, when these were detected; and the checks that will run on
 * what the run pushes.
 */
type KnownCommands = { verified: string[]; checks: { name: string; command: string }[] }

/** Reads what is known about the tests of a run's repository. */
export async function readKnownCommands(
  { db }: Pick<WorkerServices, 'db'>,
  run: RunRow,
  setup: Setup | null,
): Promise<KnownCommands> {
  const { organization_id, repository_id } = run
  if (repository_id === null) return { verified: [], checks: [] }
  const [checks, found] = await Promise.all([
    getCheckCommands(db, organization_id, repository_id),
    setup === null ? undefined : lastFoundSetup(db, organization_id, repository_id),
  ])
  return {
    verified: verifiedIn(found, setup),
    checks: (checks?.checks ?? []).map(({ name, command }) => ({ name, command })),
  }
}

/**
 * Returns what a result, as JSON text, has verified. What was verified with other commands than those that
 * run now proves nothing.
 */
export function verifiedIn(found: string | undefined, setup: Pick<Setup, 'commands'> | null): string[] {
  if (found === undefined || setup === null) return []
  const { success, data } = FoundSetupCommands.safeParse(parseJson('setting', found))
  if (!success || !data.verified || JSON.stringify(data.commands) !== JSON.stringify(setup.commands))
    return []
  return [
    ...new Set(data.evidence.flatMap(({ what, ok, command }) => (what === 'proof' && ok ? [command] : []))),
  ]
}
