import type { HealthCheck } from '../../contract/organizations/organization-limits.ts'
import { broken, ok, warning } from '../health-checks.ts'

/** A process of the service as it reported itself. `seen_seconds`: how long ago. */
export type ServiceProcess = {
  role: string
  host: string
  pid: number
  version: string
  newest_migration: string
  folder_id: string
  key_id: string
  base_url: string | null
  clock_ahead_ms: number
  seen_seconds: number
}

/** A process reports every five seconds. */
const SILENT_SECONDS = 30
/** How far clocks may be apart: expiry, limits and signatures depend on them. */
const MAX_SKEW_MS = 2_000

/**
 * Returns whether the processes of a database fit together: their roles, versions, clocks, keys, data folders
 * and addresses. `nameOf` returns how a process is named in a detail.
 */
export function checkCluster(
  all: readonly ServiceProcess[],
  nameOf: (process: ServiceProcess) => string,
): HealthCheck[] {
  const alive = all.filter(({ seen_seconds }) => seen_seconds <= SILENT_SECONDS)
  const named = (processes: readonly ServiceProcess[]) => processes.map(nameOf).join(', ')
  return [
    ...checkRoles(alive),
    ...checkSilent(all.length - alive.length, named(all.filter(item => !alive.includes(item)))),
    ...checkAgreement(alive, named),
  ]
}

function checkRoles(alive: readonly ServiceProcess[]): HealthCheck[] {
  const count = (role: string) => alive.filter(item => item.role === role).length
  const counted = ['all', 'serve', 'work']
    .filter(role => count(role) > 0)
    .map(role => `${count(role)} ${role === 'all' ? 'with all roles' : role}`)
  if (alive.length === 0)
    return [broken('processes', 'none is alive', 'start one: npm start, or the roles serve and work')]
  if (count('all') + count('serve') === 0)
    return [
      broken('processes', `${counted.join(', ')}: none serves the API`, 'start one with the role serve'),
    ]
  if (count('all') + count('work') === 0)
    return [broken('processes', `${counted.join(', ')}: none works on runs`, 'start one with the role work')]
  return [ok('processes', counted.join(', '))]
}

function checkSilent(count: number, names: string): HealthCheck[] {
  if (count === 0) return []
  const fix = 'one that was killed disappears after ten minutes; for another one see its log'
  return [warning('processes', `${names}: no report for ${SILENT_SECONDS} s`, fix)]
}

function checkAgreement(
  alive: readonly ServiceProcess[],
  named: (processes: readonly ServiceProcess[]) => string,
): HealthCheck[] {
  if (alive.length === 0) return []
  const groups = (key: (process: ServiceProcess) => string | null) =>
    [...Map.groupBy(alive, key)].filter(([value]) => value !== null)
  const listed = (found: [string | null, ServiceProcess[]][]) =>
    found.map(([value, processes]) => `${value} (${named(processes)})`).join(', ')
  const versions = groups(({ version, newest_migration }) => `${version} with ${newest_migration}`)
  const keys = groups(({ key_id }) => key_id)
  const shared = groups(({ folder_id }) => folder_id).filter(([, processes]) => !fitOneFolder(processes))
  const urls = groups(({ base_url }) => base_url)
  const skewed = alive.filter(({ clock_ahead_ms }) => Math.abs(clock_ahead_ms) > MAX_SKEW_MS)
  return [
    versions.length === 1
      ? ok('versions', listed(versions))
      : warning(
          'versions',
          listed(versions),
          'complete the upgrade, or the rollback: replace the other processes',
        ),
    skewed.length === 0
      ? ok('clocks', `within ${MAX_SKEW_MS / 1_000} s of the database`)
      : broken(
          'clocks',
          skewed
            .map(
              item =>
                `${named([item])}: ${Math.abs(item.clock_ahead_ms / 1_000).toFixed(1)} s ${item.clock_ahead_ms > 0 ? 'ahead of' : 'behind'} the database`,
            )
            .join(', '),
          'set all clocks by NTP (timedatectl set-ntp true): limits, expiry and signatures go by them',
        ),
    keys.length === 1
      ? ok('keys', 'all processes seal secrets with the same key')
      : broken(
          'keys',
          `different keys: ${listed(keys)}`,
          'give all processes the same AGENTRUN_SECRET_KEY: what one seals, the others cannot open',
        ),
    ...shared.map(([, processes]) =>
      broken(
        'data folders',
        `${named(processes)} use copies of one data folder`,
        'stop all but one, delete the file "id" in their data folders, and start them',
      ),
    ),
    ...(urls.length > 1
      ? [warning('addresses', listed(urls), 'give all processes the same AGENTRUN_BASE_URL: links go by it')]
      : []),
  ]
}

/** One process that serves and one that works, on one machine, use one data folder. */
function fitOneFolder(processes: readonly ServiceProcess[]): boolean {
  const count = (other: string) => processes.filter(({ role }) => role !== other).length
  return count('work') <= 1 && count('serve') <= 1 && new Set(processes.map(({ host }) => host)).size === 1
}
