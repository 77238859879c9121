import { once } from 'node:events'
import { join } from 'node:path'
import { settledWithin } from '../../core/timeout.ts'
import { endProcess, processIdentity } from '../../system/process-identity.ts'
import { openProgram } from '../../system/programs/run-program.ts'
import type { SystemUser } from '../../system/users.ts'
import { type Copy, type Layer, SandboxError } from '../port.ts'

/**
 * Short names in the folder itself, because processes inside can read them among their mounts. The mount
 * covers the folder, and so the three; what the first copy stores is shown at the mount point of changes. The
 * holder reports its id, and ends when its standard input is closed, or the process that runs it ends in any
 * way.
 */
const HOLDER_SCRIPT = `
set -e
umask 077
changes=$1
shift
while [ "$#" -gt 0 ]; do
cd -- "$1"
mkdir -p upper work
ln -sfn -- "$2" lower
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr,index=off "$1"
if [ "$changes" ]; then mount --bind upper "$changes"; changes=; fi
shift 2
done
echo $$
exec cat >/dev/null
`

/**
 * Mounts overlays from an unprivileged process in namespaces of its own: only there is each folder the copy.
 * Everything that needs it enters these namespaces, because two mounts of the same files do not see each
 * other's changes.
 */
export async function openLayer(
  copies: readonly Copy[],
  host: { user: SystemUser | null; start_timeout_ms: number; runtime: { changes: string } },
): Promise<Layer> {
  const script = [
    '/bin/sh',
    '-c',
    HOLDER_SCRIPT,
    'sh',
    host.runtime.changes,
    ...copies.flatMap(({ folder, base }) => [folder, base]),
  ]
  const { output, write, done, stop } = openProgram({
    program: 'unshare',
    args: ['--user', '--map-root-user', '--mount', '--', ...script],
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    user: host.user,
    max_output_bytes: 0,
  })
  const reported = once(output, 'data').then(
    ([bytes]) => processIdentity(Number(String(bytes))),
    () => null,
  )
  const started = Promise.race([reported, done.then(() => null)])
  const identity = (await settledWithin(started, host.start_timeout_ms)) ? await started : null
  if (identity === null) {
    stop()
    const { stderr, start_error } = await done
    const complaint = (start_error ?? stderr).replace(/\s+/g, ' ').trim()
    throw new SandboxError(`a layer cannot be created: ${complaint || 'it did not report in time'}`)
  }
  return {
    identity,
    changes: host.runtime.changes,
    async [Symbol.asyncDispose]() {
      write('', true)
      await endProcess(identity)
      await done
    },
  }
}

/** Returns the folder in which the layer of a copy stores what differs from its base. */
export const storedIn = (folder: string): string => join(folder, 'upper')

/** Returns the prefix of a command that runs it inside the layer's namespaces. */
export function enterLayer({ identity }: Layer): string[] {
  const [, , pid = ''] = identity.split(' ')
  return ['/usr/bin/nsenter', '--target', pid, '--user', '--mount', '--preserve-credentials', '--']
}
