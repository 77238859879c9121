import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { childEnv } from './host-child-env.ts'

/**
 * An account of the machine that a child process runs as. `null` where this is used means: as ourselves,
 * because we are not root.
 */
export type SystemUser = { name: string; uid: number; gid: number }

/**
 * Who runs what when the service was started as root: `service` runs git and owns the mirrors, `database`
 * runs PostgreSQL and owns its files, `sandbox` owns the workspaces and runs the agents' commands. All are
 * null when the service itself is unprivileged.
 */
export type SystemUsers = {
  service: SystemUser | null
  database: SystemUser | null
  sandbox: SystemUser | null
}

const service_name = 'agentrun'
const database_name = 'agentrun-postgres'
const sandbox_name = 'agentrun-sandbox'

/**
 * Finds the accounts, and makes them when we are root and they are missing: no shell, no home, the sandbox
 * user in the group of the service user so that it can read mirrors. Where accounts cannot be created (no
 * useradd, read-only /etc), `nobody` runs git and the database, and the sandbox gets a free uid without a
 * passwd entry. Throws when not even `nobody` exists.
 */
export function ensureSystemUsers(): SystemUsers {
  if (process.getuid?.() !== 0) return { service: null, database: null, sandbox: null }
  const service =
    ensureAccount(service_name, ['--user-group']) ?? accounts().find(account => account.name === 'nobody')
  if (!service)
    throw new Error(
      `cannot create the system user ${service_name} with useradd, and there is no user "nobody" to take instead`,
    )
  const created =
    service.name === service_name ? ensureAccount(sandbox_name, ['--gid', String(service.gid)]) : undefined
  const database = service.name === service_name ? ensureAccount(database_name, ['--user-group']) : undefined
  return {
    service,
    database: database ?? service,
    sandbox: created ?? { name: sandbox_name, uid: freeUid(), gid: service.gid },
  }
}

/** The account of that name, created when missing; undefined when it cannot be created. */
function ensureAccount(name: string, group_arguments: string[]): SystemUser | undefined {
  const find = () => accounts().find(account => account.name === name)
  const no_login = [
    '--system',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/usr/sbin/nologin',
  ]
  // Two first starts at once: useradd locks the account files, so the loser fails and then finds what the
  // winner created.
  for (let attempt = 0; attempt < 5 && !find(); attempt++) {
    const created = spawnSync('useradd', [...no_login, ...group_arguments, name], {
      env: childEnv(),
      stdio: 'ignore',
    })
    if (created.error) break
  }
  return find()
}

function accounts(): SystemUser[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'))
    .filter(fields => fields.length >= 4)
    .map(fields => ({ name: fields[0] ?? '', uid: Number(fields[2]), gid: Number(fields[3]) }))
}

/** Returns the name of uid 0, as which PostgreSQL sees a process of root that connects to its socket. */
export const rootName = (): string => accounts().find(account => account.uid === 0)?.name ?? 'root'

/** The highest uid below Debian's reserved ranges that nobody has: the same one at each start. */
function freeUid(): number {
  const taken = new Set(accounts().map(account => account.uid))
  let uid = 59_998
  while (taken.has(uid)) uid--
  return uid
}
