import type { EgressPreset, EgressRule } from '../../contract/organizations/egress.ts'
import { errorText } from '../../core/log.ts'
import { egressMode, setupMode } from '../../core/network/egress-mode.ts'
import { defaultMode, type Mirror } from '../../core/network/package-mirrors.ts'
import { PROXY_PORT, PROXY_SOCKET, proxyEnvironment } from '../../core/sandbox-environment.ts'
import { default_caps } from '../../egress/policy.ts'
import { presets } from '../../egress/presets.ts'
import { createProxy } from '../../egress/proxy.ts'
import { createResolver } from '../../egress/resolve.ts'
import { EVERY_HOST, mirrorRules, type Rule } from '../../egress/rules.ts'
import { listenOnSocket } from '../../egress/socket.ts'
import type { SandboxSpec } from '../../sandbox/port.ts'
import { type EgressRow, listEgressOfRun } from '../../store/access/egress.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import { BlockedLog } from './blocked-log.ts'

/** What the operator has set for all runs. */
export type EgressSettings = {
  /** Where the sockets of the proxies are. */
  folder: string
  /** Everything but mirrors goes by this proxy. */
  upstream: URL | null
  mirrors: Mirror[]
  allow_private: boolean
  max_bytes: number
}

/** The way out of a run's sandbox. `tellBlocked` writes what is left to say of what was refused; disposing ends all that is open. */
export type RunEgress = AsyncDisposable & Required<Pick<SandboxSpec, 'sockets' | 'environment'>> & { tellBlocked(): Promise<void> }

/** Of a run: the agent's commands, or those that prepare its workspace. */
type Whose = 'agent' | 'setup'

/** So long a change of the rules may take until it holds. */
const FRESH_MS = 1_000

/** A proxy of its own for a sandbox of the run, which ends with it. Where nothing may be reached it refuses all, so that the trace tells what was tried. */
export async function openEgress(
  deps: WorkerDeps,
  writer: RunWriter,
  live: LiveChannel,
  repository_id: number | null,
  whose: Whose,
): Promise<RunEgress> {
  const { folder, upstream, mirrors, allow_private, max_bytes } = deps.egress
  const read = async () => egressOf(await listEgressOfRun(writer.direct, writer.organization_id, repository_id), mirrors, whose)
  const first = await read()

  let rules: Promise<readonly Rule[] | null> = Promise.resolve(first)
  let read_at = performance.now()
  const blocked = new BlockedLog(writer, live, whose, error =>
    deps.log('error', 'a blocked connection could not be written', { error: errorText(error) }),
  )
  const proxy = createProxy({
    rules() {
      if (performance.now() - read_at < FRESH_MS) return rules
      read_at = performance.now()
      const before = rules
      // A database that is away for a moment changes nothing of what is allowed.
      rules = read().catch(() => before)
      return rules
    },
    resolve: createResolver(),
    allow_private,
    upstream,
    caps: { ...default_caps, bytes: max_bytes },
    onRequestText(text) {
      const alarmed = writer.redactor.names(text).then(() => writer.reportAlarms('request'))
      alarmed.catch(error => deps.log('error', 'an alarm could not be written', { error: errorText(error) }))
    },
    onRefused: refusal => blocked.add(refusal),
  })
  try {
    const socket = await listenOnSocket(proxy.server, folder, deps.users.sandbox?.gid ?? null)
    return {
      sockets: [{ host: socket.path, inside: PROXY_SOCKET, port: PROXY_PORT }],
      environment: proxyEnvironment(mirrors, first !== null),
      tellBlocked: () => blocked.finish(),
      async [Symbol.asyncDispose]() {
        proxy.close()
        socket.remove()
      },
    }
  } catch (error) {
    proxy.close()
    throw error
  }
}

/** What the agent is told it may reach, as `host:port`; null: egress is off. */
export async function listReachable(deps: WorkerDeps, writer: RunWriter, repository_id: number | null): Promise<string[] | null> {
  const rules = egressOf(await listEgressOfRun(writer.db, writer.organization_id, repository_id), deps.egress.mirrors, 'agent')
  return rules && [...new Set(rules.map(({ host, port }) => (port == null ? host : `${host}:${port}`)))]
}

/**
 * What the rows of an organization and a repository, in this order, allow. The mode is that of the last one that has any; where none has,
 * it is off for agents, unless the operator has mirrors, and open for setup commands. Null: off.
 */
export function egressOf(rows: EgressRow[], mirrors: readonly Mirror[], whose: Whose): Rule[] | null {
  const mode = whose === 'setup' ? setupMode(rows) : egressMode(rows, defaultMode(mirrors))
  if (mode === 'off') return null
  if (mode === 'open') return [...mirrorRules(mirrors), EVERY_HOST]
  const set = rows.flatMap(row => [
    ...(JSON.parse(row.allow) as EgressRule[]),
    ...(JSON.parse(row.presets) as EgressPreset[]).flatMap(name => presets[name]),
  ])
  return [...mirrorRules(mirrors), ...set]
}
