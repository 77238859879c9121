import { checkWorkers } from '../../../core/health-checks.ts'
import { responseJson } from '../../../core/json/parse-json.ts'
import { AgentRunError, type Client } from '../../sdk/client.ts'
import { broken, type Finding, ok, type Patient, warning } from './check.ts'

/** How far clocks may be apart before times and signatures mislead. */
const SKEW_MS = 60_000

/**
 * Checks that the address is a service that is alive and can work, and compares its version and its clock.
 */
export async function checkService(
  client: Client,
  { settings, signal, now, version }: Patient,
): Promise<Finding[]> {
  const findings: Finding[] = []
  try {
    const sent_at = now()
    const response = await client.request('getHealth', { signal })
    const body = await responseJson('client_response', response).catch(() => null)
    if (Object(body).status !== 'ok') return [stranger(settings.base_url)]
    findings.push(ok('service', 'is alive'), ...clock(response.headers.get('date'), sent_at, now()))
  } catch (error) {
    if (!(error instanceof AgentRunError)) throw error
    return [
      error.code === 'forbidden'
        ? hidden(error)
        : error.code === 'unexpected'
          ? stranger(settings.base_url)
          : broken('service', error.detail, 'see the log of the service, and start it again'),
    ]
  }
  return [...findings, ...(await readiness(client, signal, version))]
}

const stranger = (base_url: string) =>
  broken(
    'service',
    `the server at ${base_url} is not an Agent Run Service`,
    'give the address that the service printed at its start (--url, AGENTRUN_URL)',
  )

const hidden = ({ detail }: AgentRunError) =>
  broken('service', detail, 'allow this name: AGENTRUN_ALLOWED_HOSTS or AGENTRUN_BASE_URL')

async function readiness(client: Client, signal: AbortSignal, version: string): Promise<Finding[]> {
  try {
    const ready = await client.call('getReadiness', { signal })
    return [
      ok('database', 'answers'),
      ...checkWorkers({
        sandbox: ready.sandbox,
        sandbox_limits: ready.sandbox_limits ?? null,
        processes: ready.worker_processes,
        blocked: ready.workers === 'ready' ? null : (ready.workers_reason ?? 'see the log of the service'),
      }),
      ready.version === version
        ? ok('version', version)
        : warning(
            'version',
            `service ${ready.version}, this client ${version}`,
            'use the client of the same version: what the other knows may be missing',
          ),
    ]
  } catch (error) {
    if (!(error instanceof AgentRunError)) throw error
    return [
      broken(
        'database',
        error.detail,
        'see to the database of the service (DATABASE_URL, or the embedded one in its data folder) and its log',
      ),
    ]
  }
}

/** `Date` has whole seconds, and was written somewhere between the request and its response. */
function clock(date: string | null, sent_at: number, received_at: number): Finding[] {
  const there = date === null ? Number.NaN : Date.parse(date)
  if (Number.isNaN(there))
    return [
      warning(
        'clock',
        'the responses of the service have no Date header',
        'let the proxy in between pass the Date header',
      ),
    ]
  const apart = Math.max(sent_at - there - 1_000, there - received_at, 0)
  if (apart <= SKEW_MS) return [ok('clock', 'as here')]
  const words = `${Math.round(apart / 1_000)} s ${there > received_at ? 'ahead of' : 'behind'} this machine`
  return [
    broken(
      'clock',
      `the clock of the service is ${words}`,
      'set both clocks by NTP (timedatectl set-ntp true): limits, expiry and links go by them',
    ),
  ]
}
