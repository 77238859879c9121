import type { CheckRound } from '../../core/pull-requests/check-rounds.ts'
import { hasFailed } from '../../core/pull-requests/checks-verdict.ts'
import { getCheckCommands } from '../../store/pull-requests/check-commands.ts'
import { listChecks } from '../../store/pull-requests/checks.ts'
import type { AwaitChecksInput, KnownCheck, PushedHead } from './pushed-head.ts'
import type { CheckToRun } from './run-checks.ts'

type Commands = PushedHead['commands']
export type Local = { commands: Commands; known: KnownCheck[]; to_run: CheckToRun[] }

/**
 * Returns the check commands of the repository, the known checks of the commit, and those that the service
 * must run.
 */
export async function localChecks(to: AwaitChecksInput, sha: string): Promise<Local> {
  const { deps, run, base, rounds } = to
  const row = await getCheckCommands(deps.db, run.organization_id, base.repository.id)
  const commands: Commands = row?.checks ?? []
  const known = await seenChecks(to, sha, commands)
  return { commands, known, to_run: commands.flatMap(check => toRun(check, known, rounds, sha)) }
}

/** Lists the checks of a commit, without those whose command was removed since. */
export async function seenChecks(
  { deps, run, base }: AwaitChecksInput,
  sha: string,
  commands: Commands,
): Promise<KnownCheck[]> {
  const all = await listChecks(deps.db, run.organization_id, [
    { repository_id: base.repository.id, head_sha: sha },
  ])
  return all.filter(check => check.source !== 'local' || commands.some(({ name }) => name === check.name))
}

/**
 * A check runs without a result for this commit, and after a failure that the agent worked on without another
 * push.
 */
function toRun(
  check: Commands[number],
  known: readonly KnownCheck[],
  rounds: readonly CheckRound[],
  sha: string,
): CheckToRun[] {
  const row = known.find(one => one.source === 'local' && one.name === check.name)
  if (row === undefined) return [{ ...check, attempt: 1 }]
  if (row.status !== 'completed') return [{ ...check, attempt: row.attempt }]
  const worked_on = rounds.some(
    ({ head_sha, failing }) =>
      head_sha === sha && failing.some(({ name, attempt }) => name === row.name && attempt >= row.attempt),
  )
  return hasFailed(row) && worked_on ? [{ ...check, attempt: row.attempt + 1 }] : []
}
