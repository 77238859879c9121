import { errorText } from '../../core/log.ts'
import { egressMode, setupMode } from '../../core/network/egress-mode.ts'
import { defaultMode, type Mirror } from '../../core/network/package-mirrors.ts'
import { PROXY_PORT, PROXY_SOCKET, proxyEnvironment } from '../../core/sandbox-environment.ts'
import { fetchByRules } from '../../egress/fetch.ts'
import { presets } from '../../egress/presets.ts'
import { createProxy } from '../../egress/proxy.ts'
import { default_caps, type Gateway, type ProxyConfiguration } from '../../egress/proxy-configuration.ts'
import { createResolver } from '../../egress/resolve.ts'
import { EVERY_HOST, mirrorRules, type Rule } from '../../egress/rules.ts'
import { listenOnSocket } from '../../egress/socket.ts'
import type { SandboxSpec } from '../../sandbox/port.ts'
import { type EgressRow, listEgressOfRun } from '../../store/access/egress.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'
import { BlockedLog } from './blocked-log.ts'

/**
 * The egress of a sandbox. `reportBlocked` writes what is left about refused requests to the trace; disposing
 * closes all connections.
 */
type RunEgress = AsyncDisposable &
  Required<Pick<SandboxSpec, 'sockets' | 'environment'>> & { reportBlocked(): Promise<void> }

/** Whose commands use it: the agent's, or those that prepare the workspace. */
type Purpose = 'agent' | 'setup'

/** `gateway`: the model gateway in the same sandbox; null: it has none. */
type EgressOf = { repository_id: number | null; purpose: Purpose; gateway: Gateway | null }

/** How long a change of the rules may take to apply. */
const RULES_MAX_AGE_MS = 1_000

/**
 * Opens a proxy for one sandbox of the run. If egress is off it refuses every request, so that the trace
 * shows what was attempted.
 */
export async function openEgress(
  deps: Pick<WorkerServices, 'egress' | 'log' | 'users'>,
  writer: RunWriter,
  live: LiveChannel,
  of: EgressOf,
): Promise<RunEgress> {
  const { folder, mirrors } = deps.egress
  const { configuration, blocked } = configurationOf(deps, writer, live, of)
  // Read once before they are needed: while the database is unavailable the last rules apply.
  await configuration.rules()
  const proxy = createProxy(configuration)
  try {
    const socket = await listenOnSocket(proxy.server, folder, deps.users.sandbox?.gid ?? null)
    return {
      sockets: [{ host: socket.path, inside: PROXY_SOCKET, port: PROXY_PORT }],
      environment: proxyEnvironment(mirrors),
      reportBlocked: () => blocked.finish(),
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

/**
 * Requests that the service sends for the agent of a run, by the rules of its sandbox. `reportBlocked` as of
 * `RunEgress`.
 */
type RunFetch = { fetch: typeof globalThis.fetch; reportBlocked(): Promise<void> }

export function createRunFetch(
  deps: Pick<WorkerServices, 'egress' | 'log'>,
  writer: RunWriter,
  live: LiveChannel,
  repository_id: number | null,
): RunFetch {
  // Not from the sandbox, so without its gateway.
  const { configuration, blocked } = configurationOf(deps, writer, live, {
    repository_id,
    purpose: 'agent',
    gateway: null,
  })
  return { fetch: fetchByRules(configuration).fetch, reportBlocked: () => blocked.finish() }
}

/** Reads the rules when they are first needed, and again when they may have changed. */
function configurationOf(
  deps: Pick<WorkerServices, 'egress' | 'log'>,
  writer: RunWriter,
  live: LiveChannel,
  { repository_id, purpose, gateway }: EgressOf,
): { configuration: ProxyConfiguration; blocked: BlockedLog } {
  const { upstream, mirrors, allow_private, max_bytes } = deps.egress
  const read = async () =>
    egressOf(await listEgressOfRun(writer.direct, writer.organization_id, repository_id), mirrors, purpose)
  let rules: Promise<readonly Rule[] | null> | null = null
  let read_at = 0
  const blocked = new BlockedLog(writer, live, purpose, error =>
    deps.log('error', 'a blocked connection could not be recorded', { error: errorText(error) }),
  )
  const configuration: ProxyConfiguration = {
    rules() {
      if (rules !== null && performance.now() - read_at < RULES_MAX_AGE_MS) return rules
      read_at = performance.now()
      const before = rules
      // While the database is unavailable the last rules apply.
      rules = before === null ? read() : read().catch(() => before)
      return rules
    },
    resolve: createResolver(),
    allow_private,
    upstream,
    gateway,
    caps: { ...default_caps, bytes: max_bytes },
    onRequestText(text) {
      const alarmed = writer.redactor.names(text).then(() => writer.reportAlarms('request'))
      alarmed.catch(error => deps.log('error', 'an alarm could not be recorded', { error: errorText(error) }))
    },
    onRefused: refusal => blocked.add(refusal),
  }
  return { configuration, blocked }
}

/** Lists the hosts that the agent may reach, as `host:port`; null: egress is off. */
export async function listReachable(
  deps: Pick<WorkerServices, 'egress'>,
  writer: RunWriter,
  repository_id: number | null,
): Promise<string[] | null> {
  const rules = egressOf(
    await listEgressOfRun(writer.db, writer.organization_id, repository_id),
    deps.egress.mirrors,
    'agent',
  )
  return rules && [...new Set(rules.map(({ host, port }) => (port == null ? host : `${host}:${port}`)))]
}

/**
 * Returns the rules of an organization and a repository, whose rows come in this order. The last row with a
 * mode decides; without one, egress is off for agents, unless the operator has mirrors, and open for setup
 * commands. Null: off.
 */
export function egressOf(rows: EgressRow[], mirrors: readonly Mirror[], purpose: Purpose): Rule[] | null {
  const mode = purpose === 'setup' ? setupMode(rows) : egressMode(rows, defaultMode(mirrors))
  if (mode === 'off') return null
  if (mode === 'open') return [...mirrorRules(mirrors), EVERY_HOST]
  const set = rows.flatMap(row => [...row.allow, ...row.presets.flatMap(name => presets[name])])
  return [...mirrorRules(mirrors), ...set]
}
