import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { folderId } from '../../system/data-folder-id.ts'
import { handOver, makeOwnFolder } from '../../system/own-folder.ts'
import { runAs } from '../../system/run-as.ts'
import type { SystemUser } from '../../system/users.ts'

/** What the folder of a workspace is called; `template`: it is a layer on that one, and nothing else says so. */
export function workspaceName(run_id: number, epoch: number, template: string | null): string {
  return `${run_id}-${epoch}${template === null ? '' : `.on.${template}`}`
}

/** The template that a workspace is a layer on; null: it is a folder by itself. */
export function templateOf(workspace: string): string | null {
  return /\.on\.(\d+-(?:[0-9a-f]{40}|env-[0-9a-f]{32}))$/.exec(workspace)?.[1] ?? null
}

/** Names of the folders of one owner of a run (`workspaceName` without a template), its shadow included. */
export function foldersOf(root: string, owner: string): string[] {
  return readdirSync(root).filter(name => name === owner || name.startsWith(`${owner}.`))
}

/** Makes the empty folder `<root>/<workspaceName>`, mode 0700, of `user` (null: ours). Throws when it exists. */
export function createWorkspace(
  root: string,
  run_id: number,
  epoch: number,
  user: SystemUser | null,
  template: string | null = null,
): Promise<string> {
  return makeEmpty(root, workspaceName(run_id, epoch, template), user)
}

/** The same with `.shadow` behind its name: for what is not the agent's to see. */
export function createShadow(root: string, run_id: number, epoch: number, user: SystemUser | null): Promise<string> {
  return makeEmpty(root, `${run_id}-${epoch}.shadow`, user)
}

/** Makes the empty home folder of this owner of a run: `homeOf` its workspace. */
export function createHome(root: string, run_id: number, epoch: number, user: SystemUser | null): Promise<string> {
  return makeEmpty(root, `${run_id}-${epoch}.home`, user)
}

/** Makes an empty folder for checks, anew where an earlier one could not be removed. `template`: it will be a layer on that one. */
export async function createCheckFolder(
  root: string,
  run_id: number,
  epoch: number,
  name: string,
  user: SystemUser | null,
  template: string | null = null,
): Promise<string> {
  const own = `${run_id}-${epoch}.${name}${template === null ? '' : `.on.${template}`}`
  await removeWorkspace(join(root, own), user)
  return makeEmpty(root, own, user)
}

/** The home folder beside a workspace. It keeps its name for as long as it is shown: what it takes on the disk is looked up by it. */
export const homeOf = (workspace: string): string => join(dirname(workspace), `${basename(workspace).split('.')[0]}.home`)

/** An empty folder beside it that says that it was set up to the end, and as what. */
const readyMark = (workspace: string, digest: string): string => `${homeOf(workspace)}.${digest}`

export const isHomeReady = (workspace: string, digest: string): boolean =>
  existsSync(homeOf(workspace)) && existsSync(readyMark(workspace, digest))

export const markHomeReady = (workspace: string, digest: string): void => mkdirSync(readyMark(workspace, digest), { mode: 0o700 })

/** Gives the home folder of an earlier owner, and what says of it that it is ready, the names that belong to the workspace `to`. */
export function adoptHome(from: string, to: string, digest: string): void {
  renameSync(homeOf(from), homeOf(to))
  renameSync(readyMark(from, digest), readyMark(to, digest))
}

/** Whether the folder at `path` is the home folder of the owner of that workspace, or says that it is ready. */
export const isHomeOf = (path: string, workspace: string): boolean =>
  path === homeOf(workspace) || path.startsWith(readyMark(workspace, ''))

async function makeEmpty(root: string, name: string, user: SystemUser | null): Promise<string> {
  if (!existsSync(root)) makeOwnFolder(root, 0o711, null)
  const path = join(root, name)
  mkdirSync(path)
  handOver(path, 0o700, user)
  return path
}

/** Gives the workspace of an earlier turn or worker its new name. Its sandbox must have ended. Throws when `to` exists or `from` does not. */
export function adoptWorkspace(from: string, to: string): void {
  // A rename would silently replace an empty folder.
  if (existsSync(to)) throw new Error(`there is already a workspace at ${to}`)
  renameSync(from, to)
}

/** Whether the workspace at `path` is there, and the data folder around it is the one of that name, not another one at the same place. */
export function isWorkspaceOf(path: string, folder_id: string): boolean {
  return existsSync(path) && folderId(dirname(dirname(path))) === folder_id
}

/**
 * Removes a workspace with whatever the agent made of it: any name, any depth, folders without permissions. Links are removed, never
 * followed. Done as `user`, so that nothing of anybody else can go with it. A missing workspace is fine; throws when something stays.
 */
export async function removeWorkspace(path: string, user: SystemUser | null): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isDirectory()) return unlinkSync(path)
  await runAs(user, '/bin/rm', ['-rf', '--one-file-system', '--', path])
  if (removeEmpty(path)) return
  await runAs(user, '/bin/chmod', ['-R', 'u+rwx', '--', path])
  const { stderr } = await runAs(user, '/bin/rm', ['-rf', '--one-file-system', '--', path])
  if (!removeEmpty(path)) throw new Error(`cannot remove the workspace ${path}: ${stderr.slice(0, 500)}`)
}

/** Removes a workspace, and what its owner has beside it: its home folder and its shadow. */
export async function removeWithAll(workspace: string, user: SystemUser | null): Promise<void> {
  const [owner = ''] = basename(workspace).split('.')
  const root = dirname(workspace)
  for (const name of foldersOf(root, owner)) await removeWorkspace(join(root, name), user)
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
