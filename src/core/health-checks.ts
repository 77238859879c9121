import type { HealthCheck } from '../contract/organizations/organization-limits.ts'
import type { SandboxLimitMechanisms } from '../contract/service.ts'

export const ok = (check: string, detail: string): HealthCheck => ({ check, state: 'ok', detail, fix: null })
export const warning = (check: string, detail: string, fix: string): HealthCheck => ({
  check,
  state: 'warning',
  detail,
  fix,
})
export const broken = (check: string, detail: string, fix: string): HealthCheck => ({
  check,
  state: 'broken',
  detail,
  fix,
})

/*
 * The judgements of `agentrun doctor` and of the health of an organization: what is read differs, what it
 * means does not.
 */

type Workers = {
  /** Why no run is started; null when runs are. */
  blocked: string | null
  sandbox: string | null
  sandbox_limits: SandboxLimitMechanisms | null
  processes: { count: number; able: number; slots: number; busy: number }
}

/**
 * Returns whether workers start runs, with the slots of all processes, and the limits of their sandboxes
 * where a worker runs.
 */
export function checkWorkers({ blocked, sandbox, sandbox_limits, processes }: Workers): HealthCheck[] {
  const { count, able, slots, busy } = processes
  const counted = `${able} of ${count} process${count === 1 ? '' : 'es'}, ${busy} of ${slots} slots taken`
  return [
    blocked === null
      ? ok('workers', `start runs${sandbox === null ? '' : `, sandbox ${sandbox}`}, ${counted}`)
      : broken('workers', 'runs are accepted, but none is started', blocked),
    ...(sandbox_limits === null ? [] : [checkSandboxLimits(sandbox_limits)]),
  ]
}

/** `watchdog` is not a fault: it holds the bound a little late. */
function checkSandboxLimits({ memory, cpu, processes }: SandboxLimitMechanisms): HealthCheck {
  const limits = `memory by ${memory}, processors by ${cpu}, processes by ${processes}`
  if (memory !== 'watchdog' && cpu !== 'niceness') return ok('limits', limits)
  return warning(
    'limits',
    limits,
    'let the service create control groups: as root, or Delegate=yes in its systemd unit',
  )
}

/** Returns whether runs have repositories to work on. `chosen`: the repository of runs that name none. */
export function checkRepositories(
  total: number,
  chosen: { full_name: string; sample: boolean } | undefined,
): HealthCheck {
  if (total === 0) return broken('repositories', 'there is none to work on', 'agentrun repos add URL')
  if (chosen?.sample)
    return warning(
      'repositories',
      `${total}, and runs that name none work on the sample`,
      'agentrun repos add URL --default',
    )
  if (chosen === undefined)
    return warning(
      'repositories',
      `${total}, none of them the default`,
      'agentrun repos default NAME, or name one in each run: agentrun run --repo NAME',
    )
  return ok('repositories', `${total}, by default ${chosen.full_name}`)
}

/** Returns whether there is a language model, or only scripts. */
export function checkModels(providers: readonly string[], default_model: string): HealthCheck {
  const real = providers.filter(name => name !== 'scripted')
  if (real.length === 0)
    return warning(
      'models',
      'no language model: runs play scripts',
      'give the service a key, for example ANTHROPIC_API_KEY, and start it again; or set one for the organization: agentrun models key PROVIDER',
    )
  if (default_model.startsWith('scripted/'))
    return warning(
      'models',
      `${real.join(', ')}, but runs that name none play a script`,
      'set the default model of the organization, or AGENTRUN_DEFAULT_MODEL of the service',
    )
  return ok('models', `${real.join(', ')}, by default ${default_model}`)
}
