import { randomUUID } from 'node:crypto'
import { runAs } from '../../system/run-as.ts'
import type { SystemUser } from '../../system/users.ts'
import { GitError } from './git-error.ts'

/**
 * The owner of folders that git's user may write; a part of `GitHost`. Their files are changed as that user and never as root: a symbolic
 * link that git's user creates on the path leads to nothing that it could not change itself.
 */
type Owner = { readonly user: SystemUser | null; readonly gid: number | null }

const SETTINGS = 'set -e; umask 027'

/** Runs a shell script with `parameters` as git's user; `input` is its standard input. Throws GitError `failed`. */
export async function runAsOwner(host: Owner, script: string, parameters: string[], input = ''): Promise<void> {
  const user = host.user && { ...host.user, gid: host.gid ?? host.user.gid }
  const { exit_code, stderr } = await runAs(user, '/bin/sh', ['-c', `${SETTINGS}; ${script}`, 'sh', ...parameters], input)
  if (exit_code !== 0) throw new GitError('failed', `files of the service's git cannot be changed: ${stderr.trim().slice(-500)}`)
}

/** Creates folders, 0750, in this order; those that exist stay as they are. Throws GitError `failed`. */
export const createFolders = (host: Owner, ...paths: string[]): Promise<void> => runAsOwner(host, 'mkdir -p -m 750 -- "$@"', paths)

/** Replaces a file in one step, 0640: another process may be reading or writing it at this moment. Throws GitError `failed`. */
export const replaceFile = (host: Owner, path: string, text: string): Promise<void> =>
  runAsOwner(host, 'cat >"$1"; mv -fT -- "$1" "$2"', [`${path}.${randomUUID()}.new`, path], text)

/** Moves files from one folder into another, in this order. Throws GitError `failed`. */
export const moveFiles = (host: Owner, from: string, to: string, names: string[]): Promise<void> =>
  runAsOwner(host, 'from="$1" to="$2"; shift 2; for name; do mv -fT -- "$from/$name" "$to/$name"; done', [from, to, ...names])

/** Removes files and whole folders; a missing one is fine. Retries while a process still writes there. Throws GitError `failed`. */
export const removeTree = (host: Owner, ...paths: string[]): Promise<void> =>
  runAsOwner(host, 'rm -rf -- "$@" || { sleep 0.1; rm -rf -- "$@"; } || { sleep 0.5; rm -rf -- "$@"; }', paths)
