import { niceProgram } from '../../system/programs/nice-program.ts'
import { runProgram } from '../../system/programs/run-program.ts'
import type { SystemUser } from '../../system/users.ts'
import type { WorkspaceSize } from '../port.ts'

const MEASURE_MS = 20_000

/**
 * Measures a workspace as `user`, who can read nothing else, with low priority. Null when it cannot be
 * measured in time.
 */
export async function workspaceSize(path: string, user: SystemUser | null): Promise<WorkspaceSize | null> {
  const [bytes, files] = await Promise.all([
    diskUsage(['-B1'], path, user),
    diskUsage(['--inodes'], path, user),
  ])
  return bytes === null || files === null ? null : { bytes, files }
}

/** Bytes only; 0 when they cannot be measured in time. */
export const workspaceBytes = async (path: string, user: SystemUser | null): Promise<number> =>
  (await diskUsage(['-B1'], path, user)) ?? 0

/**
 * In its own user namespace the user is root over its files, and can read folders whose permissions it
 * removed.
 */
const AS_OWNER = ['/usr/bin/unshare', '--user', '--map-root-user', '--']
/** Whether this machine permits user namespaces. */
let owner_sees_all: boolean | undefined

async function diskUsage(unit: string[], path: string, user: SystemUser | null): Promise<number | null> {
  const du = ['/usr/bin/du', '-sx', ...unit, '--', path]
  owner_sees_all ??= (await run([...AS_OWNER, '/bin/true'], user)) !== null
  const output = await run(owner_sees_all ? [...AS_OWNER, ...du] : du, user)
  const count = Number.parseInt(output ?? '', 10)
  return Number.isNaN(count) ? null : count
}

/** Returns its output for any exit code; null when it does not end in time or cannot be started. */
async function run(command: string[], user: SystemUser | null): Promise<string | null> {
  const limits = { timeout_ms: MEASURE_MS, max_output_bytes: 4_096 }
  const { code, stdout } = await runProgram({ ...niceProgram(command), user, ...limits }).done
  return code !== 0 && stdout.length === 0 ? null : stdout.toString()
}
