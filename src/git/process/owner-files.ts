import { randomUUID } from 'node:crypto'
import { pause } from '../../core/pause.ts'
import type { FileChange } from '../../system/programs/change-files.ts'
import { changeFilesAs, refusedRemovals } from '../../system/programs/run-program.ts'
import { runAs } from '../../system/run-as.ts'
import type { SystemUser } from '../../system/users.ts'
import { GitError } from './git-error.ts'

/**
 * The owner of folders that git's user may write; a part of `GitHost`. Their files are changed as that user
 * and never as root: a symbolic link that git's user creates on the path leads to nothing that it could not
 * change itself.
 */
type Owner = { readonly user: SystemUser | null; readonly gid: number | null }

const ownerOf = ({ user, gid }: Owner) => user && { ...user, gid: gid ?? user.gid }

/** Runs a shell script with `parameters` as git's user. Throws GitError `failed`. */
export async function runAsOwner(host: Owner, script: string, parameters: string[]): Promise<void> {
  const { stderr, exit_code } = await runOwn(host, '/bin/sh', [
    '-c',
    `set -e; umask 027; ${script}`,
    'sh',
    ...parameters,
  ])
  if (exit_code !== 0) throw failed(stderr)
}

/** Creates folders, 0750, in this order; those that exist stay as they are. Throws GitError `failed`. */
export const createFolders = (host: Owner, ...folders: string[]): Promise<void> =>
  change(host, { kind: 'create', folders })

/**
 * Replaces a file in one step, 0640: another process may be reading or writing it at this moment. Throws
 * GitError `failed`.
 */
export const replaceFile = (host: Owner, path: string, text: string): Promise<void> =>
  change(host, { kind: 'replace', path, through: `${path}.${randomUUID()}.new`, text })

/** Moves files from one folder into another, in this order. Throws GitError `failed`. */
export const moveFiles = (host: Owner, from: string, to: string, names: string[]): Promise<void> =>
  change(host, { kind: 'move', from, to, names })

/**
 * Removes files and whole folders; a missing one is fine. One process for all that are large. Retries while a
 * process still writes there. Throws GitError `failed`.
 */
export async function removeTree(host: Owner, ...paths: string[]): Promise<void> {
  const large = await refusedRemovals(ownerOf(host), paths)
  if (large.length === 0) return
  for (const wait_ms of [100, 500, null]) {
    const { exit_code, stderr } = await runOwn(host, '/bin/rm', ['-rf', '--', ...large])
    if (exit_code === 0) return
    if (wait_ms === null) throw failed(stderr)
    await pause(wait_ms)
  }
}

const runOwn = (host: Owner, program: string, args: string[]) => runAs(ownerOf(host), program, args)

async function change(host: Owner, what: FileChange): Promise<void> {
  try {
    await changeFilesAs(ownerOf(host), what)
  } catch (error) {
    throw failed(error instanceof Error ? error.message : String(error))
  }
}

const failed = (reason: string) =>
  new GitError('failed', `files of the service's git cannot be changed: ${reason.trim()}`)
