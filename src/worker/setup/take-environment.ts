import { actionTool } from '../../contract/runs/action-tools.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { ageOf, type Environment } from './environments.ts'
import { leaveOut, type SetupInput, type SetupResult, setUp, setUpRecord } from './setup.ts'

/**
 * Makes the environment that the workspace is a copy of the run's own: leaves its files out of the change,
 * shows it in the trace, and runs the maintenance commands if it was created at another commit. Throws as
 * `setUp` does.
 */
export async function takeEnvironment(
  to: SetupInput,
  environment: Environment,
  base_sha: string,
): Promise<SetupResult> {
  const { deps, writer, known, setup, sandbox, signal } = to
  const { made_at_sha, failures } = environment
  const left_out = [...new Set([...known, ...environment.left_out])]
  await leaveOut(deps, sandbox, environment.left_out, signal)
  const maintained = made_at_sha !== base_sha && setup.maintenance.length > 0
  await writer.append({
    records: [setUpRecord(left_out, failures)],
    entries: [entryOf(environment, maintained)],
  })
  if (!maintained) return { failures, left_out }
  const commands = setup.maintenance
  return setUp({
    ...to,
    setup: { ...setup, commands },
    known: left_out,
    failed: failures,
    purpose: 'maintenance',
  })
}

function entryOf(environment: Environment, maintained: boolean) {
  const { row, made, made_at_sha } = environment
  const origin = row && {
    made_at: row.made_at.toISOString(),
    made_by_run: row.run_id,
    digest: row.digest,
    bytes: row.bytes,
    uses: row.uses,
  }
  const output = {
    status: 'ok',
    ...origin,
    made,
    kept: row !== null,
    age_seconds: ageOf(environment),
    at_commit: made_at_sha,
    maintained,
  }
  return serviceAction(actionTool.environment, { id: row?.id ?? null, key: row?.key ?? null }, output, 0)
}
