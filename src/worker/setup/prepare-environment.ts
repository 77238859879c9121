import { onAbort } from '../../core/abort.ts'
import { mirrorPath } from '../../git/process/git-host.ts'
import { afterEnvironmentCommand, beforeEnvironmentCommand } from '../../git/workspace/template-commands.ts'
import type { Base } from '../base/base.ts'
import { clone, MIRROR_INSIDE, runOrFail } from '../base/checkout.ts'
import type { RunSetupInput } from './run-setup.ts'
import { type SetupResult, setUp } from './setup.ts'

/**
 * `purpose`: absent for a run that starts. `started` is also called with no identity when all sandboxes have
 * ended.
 */
export type PrepareInput = Pick<
  RunSetupInput,
  'deps' | 'writer' | 'live' | 'run' | 'setup' | 'secrets' | 'started' | 'signal'
> & {
  base: Base
  purpose?: 'checks'
}

/**
 * Clones the run's base into two empty folders and runs the setup commands there, as they would run in the
 * run's workspace. Afterwards the folders can be lower layers of workspaces and home folders. Throws
 * StartError, SandboxError, and rejects soon after `signal`.
 */
export async function prepareEnvironment(
  of: PrepareInput,
  draft: { tree: string; home: string },
): Promise<SetupResult> {
  const { deps, writer, base, started, signal } = of
  const read_only = [{ host: mirrorPath(deps.git, base.repository.id), inside: MIRROR_INSIDE }]
  const shown = { workspace: draft.tree, home: draft.home, read_only }
  await using sandbox = await deps.driver.start({ ...shown, limits: deps.sandbox_limits })
  await started([sandbox.identity])
  // A run that must end does not wait for commands in progress.
  using _stopped = onAbort(signal, () => void sandbox.stop())
  signal.throwIfAborted()
  const run = (command: string) => runOrFail({ deps, writer, signal }, sandbox, command)
  await clone({ deps, writer, sandbox, copy_of: null, signal }, base, base.sha)
  await run(beforeEnvironmentCommand())
  const result = await setUp({
    ...of,
    known: [],
    shown,
    sandbox,
    files_of: 'repository',
    started: identities => started([sandbox.identity, ...identities]),
  })
  await run(afterEnvironmentCommand())
  await sandbox.stop()
  await started([])
  return result
}
