import type { SandboxKind } from '../../contract/repositories/sandboxes.ts'
import { errorText } from '../../core/log.ts'
import { startPolling } from '../../core/polling.ts'
import type { Sandbox, SandboxSpec } from '../../sandbox/port.ts'
import { endSandbox, insertSandbox, recordSandboxUse, type SandboxUse } from '../../store/workspaces/sandboxes.ts'
import { requireOwned } from '../claim/fencing.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'

/** So often what a sandbox takes is written down while it is there, if that has changed: what is left when its owner dies. */
const USE_MS = 10_000

/**
 * Starts a user-visible sandbox of a run: its row is there before it, and says what came of it. Rejects as `start` of the driver
 * does, and with FencedError when the run belongs to another owner.
 */
export async function startRecorded(
  deps: WorkerDeps,
  writer: RunWriter,
  kind: SandboxKind,
  spec: Omit<SandboxSpec, 'limits'>,
): Promise<Sandbox> {
  const { driver, sandbox_limits: limits, host } = deps
  const id = requireOwned(await insertSandbox(deps.db, writer, { kind, driver: driver.name, host, limits: JSON.stringify(limits) }))
  const owner = { organization_id: writer.organization_id, id, epoch: writer.epoch }
  // Nobody waits for it: a row that is not written is one that the sweep finds.
  const write = async (what: () => Promise<unknown>) => {
    await what().catch(error => deps.log('error', 'what became of a sandbox could not be written down', { error: errorText(error) }))
  }
  const started = await driver.start({ ...spec, limits }).catch(async error => {
    await write(() => endSandbox(writer.direct, owner, { reason: 'start_failed' }, nothing))
    throw error
  })
  let told = ''
  const tell = async () => {
    const taken = takenBy(started)
    if (JSON.stringify(taken) === told) return
    told = JSON.stringify(taken)
    await recordSandboxUse(writer.direct, owner, taken)
  }
  await write(tell)
  const polling = startPolling(USE_MS, 'to write down what a sandbox takes', tell, deps.log)
  let stopping = false
  let ended: Promise<void> | null = null
  const end = () => {
    ended ??= write(() => {
      polling[Symbol.dispose]()
      return endSandbox(writer.direct, owner, { reason: stopping ? 'stopped' : 'died' }, takenBy(started))
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

const nothing: SandboxUse = { peak_memory_bytes: null, peak_disk_bytes: null, peak_processes: null, cpu_ms: null, memory_kills: null }

/** What nobody has counted is 0 in the words of the port. */
function takenBy(sandbox: Sandbox): SandboxUse {
  const { peak_memory_bytes, peak_disk_bytes, peak_processes, cpu_ms, memory_kills } = sandbox.usage()
  const counted = peak_memory_bytes > 0
  return {
    peak_memory_bytes: counted ? peak_memory_bytes : null,
    memory_kills: counted ? memory_kills : null,
    peak_disk_bytes: peak_disk_bytes ?? null,
    peak_processes: peak_processes ?? null,
    cpu_ms,
  }
}
