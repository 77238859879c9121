import type { SandboxKind } from '../../contract/repositories/sandboxes.ts'
import { errorText } from '../../core/log.ts'
import { startPolling } from '../../core/polling.ts'
import type { Sandbox, SandboxSpec } from '../../sandbox/port.ts'
import {
  endSandbox,
  insertSandbox,
  recordSandboxUse,
  type SandboxUse,
} from '../../store/workspaces/sandboxes.ts'
import { requireOwned } from '../claim/fenced-error.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'

/**
 * How often the resource usage of a sandbox is recorded if it has changed: what is left of it when its worker
 * dies.
 */
const USE_MS = 10_000

type Deps = Pick<WorkerServices, 'db' | 'log' | 'driver' | 'sandbox_limits' | 'host'>

/**
 * Starts a user-visible sandbox of a run. Its row is inserted before the start and records how it ended.
 * Rejects as `start` of the driver does, and with FencedError.
 */
export async function startRecorded(
  deps: Deps,
  writer: RunWriter,
  kind: SandboxKind,
  spec: Omit<SandboxSpec, 'limits'>,
): Promise<Sandbox> {
  const { driver, sandbox_limits: limits, host } = deps
  const id = requireOwned(await insertSandbox(deps.db, writer, { kind, driver: driver.name, host, limits }))
  const owner = { organization_id: writer.organization_id, id, epoch: writer.epoch }
  // The run does not depend on it: the sweep finds a row that was not updated.
  const write = async (statement: () => Promise<unknown>) => {
    await statement().catch(error =>
      deps.log('error', 'the state of a sandbox could not be recorded', { error: errorText(error) }),
    )
  }
  const started = await driver.start({ ...spec, limits }).catch(async error => {
    await write(() => endSandbox(writer.direct, owner, { reason: 'start_failed' }, nothing))
    throw error
  })
  let recorded = ''
  const recordUse = async () => {
    const use = useOf(started)
    if (JSON.stringify(use) === recorded) return
    recorded = JSON.stringify(use)
    await recordSandboxUse(writer.direct, owner, use)
  }
  await write(recordUse)
  const polling = startPolling(USE_MS, 'recording the usage of a sandbox', recordUse, deps.log)
  let stopping = false
  let ended: Promise<void> | null = null
  const end = () => {
    ended ??= write(() => {
      polling[Symbol.dispose]()
      return endSandbox(writer.direct, owner, { reason: stopping ? 'stopped' : 'died' }, useOf(started))
    })
    return ended
  }
  void started.ended.then(end)
  const stop = async () => {
    stopping = true
    await started.stop()
    await end()
  }
  return { ...started, stop, [Symbol.asyncDispose]: stop }
}

const nothing: SandboxUse = {
  peak_memory_bytes: null,
  peak_disk_bytes: null,
  peak_processes: null,
  cpu_ms: null,
  memory_kills: null,
}

/** The port reports 0 for memory that was not measured. */
function useOf(sandbox: Sandbox): SandboxUse {
  const { peak_memory_bytes, peak_disk_bytes, peak_processes, cpu_ms, memory_kills } = sandbox.usage()
  const measured = peak_memory_bytes > 0
  return {
    peak_memory_bytes: measured ? peak_memory_bytes : null,
    memory_kills: measured ? memory_kills : null,
    peak_disk_bytes: peak_disk_bytes ?? null,
    peak_processes: peak_processes ?? null,
    cpu_ms,
  }
}
