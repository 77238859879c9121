import { execFile } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { join } from 'node:path'
import { childEnv } from '../system/child-env.ts'
import { makeOwnFolder } from '../system/own-folder.ts'
import type { SystemUser } from '../system/users.ts'

/** Makes the empty folder `<root>/<run_id>-<epoch>`, mode 0700, of `user` (null: ours). Throws when it exists. */
export function createWorkspace(root: string, run_id: number, epoch: number, user: SystemUser | null): Promise<string> {
  return makeEmpty(root, `${run_id}-${epoch}`, user)
}

/** The same with `.shadow` behind its name: for what is not the agent's to see. */
export function createShadow(root: string, run_id: number, epoch: number, user: SystemUser | null): Promise<string> {
  return makeEmpty(root, `${run_id}-${epoch}.shadow`, user)
}

async function makeEmpty(root: string, name: string, user: SystemUser | null): Promise<string> {
  if (!existsSync(root)) makeOwnFolder(root, 0o711, null)
  const path = join(root, name)
  mkdirSync(path)
  chmodSync(path, 0o700)
  if (user) await chown(path, user.uid, user.gid)
  return path
}

/** Gives the workspace of an earlier turn or worker its new name. Its sandbox must have ended. Throws when `to` exists or `from` does not. */
export function adoptWorkspace(from: string, to: string): void {
  // A rename would silently replace an empty folder.
  if (existsSync(to)) throw new Error(`there is already a workspace at ${to}`)
  renameSync(from, to)
}

/**
 * Removes a workspace with whatever the agent made of it: any name, any depth, folders without permissions. Links are removed, never
 * followed. Done as `user`, so that nothing of anybody else can go with it. A missing workspace is fine; throws when something stays.
 */
export async function removeWorkspace(path: string, user: SystemUser | null): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isDirectory()) return unlinkSync(path)
  await run('/bin/rm', ['-rf', '--one-file-system', '--', path], user)
  if (removeEmpty(path)) return
  await run('/bin/chmod', ['-R', 'u+rwx', '--', path], user)
  const complaint = await run('/bin/rm', ['-rf', '--one-file-system', '--', path], user)
  if (!removeEmpty(path)) throw new Error(`cannot remove the workspace ${path}: ${complaint.slice(0, 500)}`)
}

/** The folder itself stands in a folder of ours, where the sandbox's user may not remove it. */
function removeEmpty(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTEMPTY') return false
    if (code === 'ENOENT') return true
    throw error
  }
}

/** Resolves to what the program said; its exit code tells nothing that the folder does not. */
function run(program: string, parameters: string[], user: SystemUser | null): Promise<string> {
  const as_user = user ? { uid: user.uid, gid: user.gid } : {}
  return new Promise(resolve => {
    execFile(program, parameters, { cwd: '/', env: childEnv(), ...as_user, maxBuffer: 64 * 1024 }, (_error, _output, complaint) =>
      resolve(complaint),
    )
  })
}
