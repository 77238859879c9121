import { mirrorPath } from '../../git/process/git-host.ts'
import { afterEnvironmentCommand, beforeEnvironmentCommand } from '../../git/workspace/template-commands.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { type Base, StartError } from '../base/base.ts'
import { clone, MIRROR_INSIDE, runInWorkspace } from '../base/checkout.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import type { WorkerDeps } from '../settings.ts'
import { type SetUp, type Setup, setUp } from './setup.ts'

export type Preparing = {
  deps: WorkerDeps
  writer: RunWriter
  live: LiveChannel
  run: RunRow
  base: Base
  setup: Setup
  secrets: RunSecrets
  /** What the commands are run for, besides a run that begins. */
  purpose?: 'checks'
  /** Told of the sandboxes that are there, so that whoever comes after us can end them. */
  started(identities: (string | null)[]): Promise<void>
  signal: AbortSignal
}

/**
 * Clones the run's base into two empty folders and runs the setup commands there, as they would run in the run's workspace: afterwards they are
 * fit to be what workspaces and home folders are layers on. Throws StartError, SandboxError, and soon after `signal` whatever comes of it.
 */
export async function prepareEnvironment(of: Preparing, draft: { tree: string; home: string }): Promise<SetUp> {
  const { deps, writer, base, started, signal } = of
  const read_only = [{ host: mirrorPath(deps.git, base.repository.id), inside: MIRROR_INSIDE }]
  const shown = { workspace: draft.tree, home: draft.home, read_only }
  await using sandbox = await deps.driver.start({ ...shown, limits: deps.sandbox_limits })
  await started([sandbox.identity])
  // Who is to end waits for nothing that goes on in it.
  const giveUp = () => void sandbox.stop()
  signal.addEventListener('abort', giveUp)
  try {
    signal.throwIfAborted()
    const lay = async (command: string) => {
      const { status, output, ended } = await runInWorkspace(deps, sandbox, command, signal)
      signal.throwIfAborted()
      if (status !== 'ok') throw new StartError('setup_failed', 'clone_failed', `The files could not be prepared: ${output || ended}`)
    }
    await clone({ deps, writer, sandbox, copy_of: null, signal }, base, base.sha)
    await lay(beforeEnvironmentCommand())
    const done = await setUp({
      ...{ ...of, known: [], shown, sandbox, files_of: 'repository' },
      started: identity => started([sandbox.identity, identity]),
    })
    await lay(afterEnvironmentCommand())
    await sandbox.stop()
    await started([])
    return done
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
