import { serviceAction } from '../../trace/agent-entries.ts'
import { ageOf, type Environment } from './environments.ts'
import { leaveOut, type SettingUp, type SetUp, setUp } from './setup.ts'

/**
 * Makes an environment that the workspace is a copy of the run's own: what was prepared is left out of its change, the trace says which it is
 * and how old, and what has to be done at another commit than the one it was made at is done. Throws as `setUp` does.
 */
export async function takeEnvironment(to: SettingUp, environment: Environment, base_sha: string): Promise<SetUp> {
  const { deps, writer, known, setup, sandbox, signal } = to
  const { row, made, made_at_sha, failures } = environment
  const left_out = [...new Set([...known, ...environment.left_out])]
  await leaveOut(deps, sandbox, environment.left_out, signal)
  const maintained = made_at_sha !== base_sha && setup.maintenance.length > 0
  const said = {
    status: 'ok',
    ...(row !== null && {
      made_at: row.made_at.toISOString(),
      made_by_run: row.run_id,
      digest: row.digest,
      bytes: row.bytes,
      uses: row.uses,
    }),
    ...{ made, kept: row !== null, age_seconds: ageOf(environment), at_commit: made_at_sha, maintained },
  }
  const entry = serviceAction('environment', { id: row?.id ?? null, key: row?.key ?? null }, said, 0)
  await writer.append({ records: [{ kind: 'set_up', key: null, body: JSON.stringify({ left_out }) }], entries: [entry] })
  if (!maintained) return { failures, left_out }
  const again = await setUp({ ...to, setup: { ...setup, commands: setup.maintenance }, known: left_out, purpose: 'maintenance' })
  return { failures: [...failures, ...again.failures], left_out: again.left_out }
}
