import { tools_without_effect } from '../../core/runs/file-tools.ts'
import { isFirstClaim } from '../../core/runs/first-claim.ts'
import { type CacheOwner, retainObjectCache } from '../../git/objects/object-cache.ts'
import { isOfRunsAlone } from '../../git/read/revisions.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { checkpointAt, reopenCheckpoints } from '../../store/workspaces/checkpoints.ts'
import type { Base } from '../base/base.ts'
import { loadTip } from '../base/kept-objects.ts'
import type { Templates } from '../base/templates.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { StartupTimer } from '../claim/startup-timer.ts'
import type { AgentProgram } from '../sandbox/agent-program.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import type { WorkerServices } from '../services.ts'
import type { Environments } from '../setup/environments.ts'
import type { RunSetupInput, Setup } from '../setup/run-setup.ts'
import type { Last } from './restore.ts'

export type OpenInput = {
  deps: RunSetupInput['deps'] &
    Pick<WorkerServices, 'folders' | 'disk_reserve_bytes' | 'checkpoints' | 'telemetry' | 'folder_id'> & {
      templates: Templates
      environments: Environments
    }
  writer: RunWriter
  live: LiveChannel
  run: RunRow
  base: Base | null
  secrets: RunSecrets
  setup: Setup | null
  startup: StartupTimer
  program: AgentProgram | null
  signal: AbortSignal
}

/**
 * `last`: the newest checkpoint; `tip`: the commit that the next pack builds on; `by_agents`: only runs have
 * published the base.
 */
export type History = { kept: CacheOwner; last: Last | null; tip: string | null; by_agents: boolean }

/** Returns the newest checkpoint, none of which applies to later entries from now on. */
async function reopenLast(
  { db }: OpenInput['deps'],
  { epoch }: RunWriter,
  run: RunRow,
): Promise<Last | null> {
  await reopenCheckpoints(db, run.organization_id, run.id, epoch)
  return (await checkpointAt(db, run.organization_id, run.id, run.total_logs, tools_without_effect)) ?? null
}

/** Reads what is stored of the run's files. `stack` releases it. */
export async function readHistory(
  { deps, writer, run, base, signal }: OpenInput,
  stack: AsyncDisposableStack,
): Promise<History> {
  const kept: CacheOwner = { run_id: run.id, repository_id: base?.repository.id ?? null }
  stack.defer(await retainObjectCache(deps.git, run.id, signal))
  const last = isFirstClaim(run) ? null : await reopenLast(deps, writer, run)
  const bounds = { max_bytes: deps.checkpoints.max_pack_bytes, fetch_ms: deps.git_limits.fetch_ms, signal }
  const tip = last === null ? null : await loadTip(deps, run.organization_id, kept, bounds)
  const by_agents = base !== null && (await isOfRunsAlone(deps.git, base.repository.id, base))
  return { kept, last, tip, by_agents }
}
