import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { settledWithin } from '../../core/timeout.ts'
import { endProcess, processIdentity } from '../../system/process-identity.ts'
import type { SystemUser } from '../../system/users.ts'
import { type Copy, type Layer, SandboxError } from '../port.ts'

/**
 * Short names in the folder itself, because processes inside can read them among their mounts. The mount covers the folder, and so the
 * three. The holder ends when this process closes its standard input, or ends in any way.
 */
const HOLDER_SCRIPT = `
set -e
umask 077
while [ "$#" -gt 0 ]; do
cd -- "$1"
mkdir -p upper work
ln -sfn -- "$2" lower
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr,index=off "$1"
shift 2
done
echo ready
exec cat >/dev/null
`
const max_complaint_bytes = 2_000

/**
 * Mounts overlays from an unprivileged process in namespaces of its own: only there is each folder the copy. Everything that needs it
 * enters these namespaces, because two mounts of the same files do not see each other's changes.
 */
export async function openLayer(copies: readonly Copy[], host: { user: SystemUser | null; start_timeout_ms: number }): Promise<Layer> {
  const child = spawn(
    'unshare',
    [
      '--user',
      '--map-root-user',
      '--mount',
      '--',
      '/bin/sh',
      '-c',
      HOLDER_SCRIPT,
      'sh',
      ...copies.flatMap(({ folder, base }) => [folder, base]),
    ],
    {
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(host.user ? { uid: host.user.uid, gid: host.user.gid } : {}),
    },
  )
  let complaint = ''
  child.stderr.on('data', chunk => {
    complaint = (complaint + chunk).slice(0, max_complaint_bytes)
  })
  child.stdin.on('error', () => {})
  const ended = new Promise<void>(resolve => {
    child.once('close', () => resolve())
    child.once('error', error => {
      complaint = error.message
      resolve()
    })
  })
  const ready = once(child.stdout, 'data').then(
    () => true,
    () => false,
  )
  const started = Promise.race([ready, ended.then(() => false)])
  const identity = (await settledWithin(started, host.start_timeout_ms)) && (await started) ? processIdentity(child.pid ?? 0) : null
  if (identity === null) {
    child.kill('SIGKILL')
    await ended
    throw new SandboxError(`a layer cannot be created: ${complaint.replace(/\s+/g, ' ').trim() || 'it did not report in time'}`)
  }
  return {
    identity,
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await endProcess(identity)
      await ended
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
