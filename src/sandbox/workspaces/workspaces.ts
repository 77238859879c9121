import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { folderId } from '../../system/data-folder-id.ts'
import { createOwnFolder, handOver } from '../../system/own-folder.ts'
import { refusedRemovals } from '../../system/programs/run-program.ts'
import { runAs } from '../../system/run-as.ts'
import type { SystemUser } from '../../system/users.ts'

/** Returns the name of a workspace folder; `template`: the base of its layer, which only the name records. */
export function workspaceName(run_id: number, epoch: number, template: string | null): string {
  return `${run_id}-${epoch}${template === null ? '' : `.on.${template}`}`
}

/** Returns the template that a workspace is a layer on; null: it is a plain folder. */
export function templateOf(workspace: string): string | null {
  return /\.on\.(\d+-(?:[0-9a-f]{40}|env-[0-9a-f]{32}))$/.exec(workspace)?.[1] ?? null
}

/**
 * Returns the names of the folders of one worker of a run (`workspaceName` without a template), its shadow
 * included.
 */
export function foldersOf(root: string, owner: string): string[] {
  return readdirSync(root).filter(name => name === owner || name.startsWith(`${owner}.`))
}

/**
 * Creates the empty folder `<root>/<workspaceName>`, mode 0700, owned by `user` (null: the service's own).
 * Throws when it exists.
 */
export function createWorkspace(
  root: string,
  run_id: number,
  epoch: number,
  user: SystemUser | null,
  template: string | null = null,
): Promise<string> {
  return createEmpty(root, workspaceName(run_id, epoch, template), user)
}

/** Creates the same with the suffix `.shadow`: for files that the agent must not see. */
export function createShadow(
  root: string,
  run_id: number,
  epoch: number,
  user: SystemUser | null,
): Promise<string> {
  return createEmpty(root, `${run_id}-${epoch}.shadow`, user)
}

/** Creates the empty home folder of this worker of a run: `homeOf` its workspace. */
export function createHome(
  root: string,
  run_id: number,
  epoch: number,
  user: SystemUser | null,
): Promise<string> {
  return createEmpty(root, `${run_id}-${epoch}.home`, user)
}

/**
 * Creates an empty folder for checks, under another name when an earlier one could not be removed.
 * `template`: the base of its layer.
 */
export async function createCheckFolder(
  root: string,
  { run_id, epoch, name, template }: { run_id: number; epoch: number; name: string; template: string | null },
  user: SystemUser | null,
): Promise<string> {
  const own = `${run_id}-${epoch}.${name}${template === null ? '' : `.on.${template}`}`
  await removeWorkspace(join(root, own), user)
  return createEmpty(root, own, user)
}

/**
 * Returns the home folder beside a workspace. It keeps its name while it is mounted, because its size is
 * found by that name.
 */
export const homeOf = (workspace: string): string =>
  join(dirname(workspace), `${basename(workspace).split('.')[0]}.home`)

/**
 * Returns an empty folder beside the workspace that records that its setup is complete, and with which
 * digest.
 */
const readyMark = (workspace: string, digest: string): string => `${homeOf(workspace)}.${digest}`

export const isHomeReady = (workspace: string, digest: string): boolean =>
  existsSync(homeOf(workspace)) && existsSync(readyMark(workspace, digest))

export const markHomeReady = (workspace: string, digest: string): void =>
  mkdirSync(readyMark(workspace, digest), { mode: 0o700 })

/** Renames the home folder of an earlier worker, and its ready mark, for the workspace `to`. */
export function adoptHome(from: string, to: string, digest: string): void {
  renameSync(homeOf(from), homeOf(to))
  renameSync(readyMark(from, digest), readyMark(to, digest))
}

/** Returns whether the folder at `path` is the home folder of that workspace, or its ready mark. */
export const isHomeOf = (path: string, workspace: string): boolean =>
  path === homeOf(workspace) || path.startsWith(readyMark(workspace, ''))

async function createEmpty(root: string, name: string, user: SystemUser | null): Promise<string> {
  if (!existsSync(root)) createOwnFolder(root, 0o711, null)
  const path = join(root, name)
  mkdirSync(path)
  handOver(path, 0o700, user)
  return path
}

/**
 * Renames the workspace of an earlier turn or worker. Its sandbox must have ended. Throws when `to` exists or
 * `from` does not.
 */
export function adoptWorkspace(from: string, to: string): void {
  // A rename would silently replace an empty folder.
  if (existsSync(to)) throw new Error(`there is already a workspace at ${to}`)
  renameSync(from, to)
}

/**
 * Returns whether the workspace at `path` exists and its data folder has that id; another data folder could
 * be at the same path.
 */
export function isWorkspaceOf(path: string, folder_id: string): boolean {
  return existsSync(path) && folderId(dirname(dirname(path))) === folder_id
}

/** As many as a command line surely takes. */
const REMOVED_AT_ONCE = 500

/**
 * Removes workspaces with any content that the agent created: any name, any depth, folders without
 * permissions. Links are removed, never followed. Works as `user`, so that files of others are safe; one
 * process for all that are large. Missing ones are fine; throws when something remains.
 */
export async function removeWorkspaces(paths: readonly string[], user: SystemUser | null): Promise<void> {
  for (let at = 0; at < paths.length; at += REMOVED_AT_ONCE)
    await removeSome(paths.slice(at, at + REMOVED_AT_ONCE), user)
}

export const removeWorkspace = (path: string, user: SystemUser | null): Promise<void> =>
  removeWorkspaces([path], user)

async function removeSome(paths: readonly string[], user: SystemUser | null): Promise<void> {
  const filled = paths.filter(path => !removeEmpty(path))
  // The folder itself is not the user's to remove: only what is in it.
  const emptied = await refusedRemovals(user, filled)
  const large = emptied.filter(path => !removeEmpty(path))
  if (large.length > 0) await runAs(user, '/bin/rm', ['-rf', '--one-file-system', '--', ...large])
  const left = large.filter(path => !removeEmpty(path))
  if (left.length === 0) return
  await runAs(user, '/bin/chmod', ['-R', 'u+rwx', '--', ...left])
  const { stderr } = await runAs(user, '/bin/rm', ['-rf', '--one-file-system', '--', ...left])
  const remaining = left.filter(path => !removeEmpty(path))
  if (remaining.length > 0) throw new Error(`cannot remove the workspace ${remaining[0]}: ${stderr.trim()}`)
}

/** Returns the folders of a workspace: itself, its home folder and its shadow. */
export function allOf(workspace: string): string[] {
  const [owner = ''] = basename(workspace).split('.')
  const root = dirname(workspace)
  return foldersOf(root, owner).map(name => join(root, name))
}

/** Removes a workspace with its home folder and its shadow. */
export const removeWithAll = (workspace: string, user: SystemUser | null): Promise<void> =>
  removeWorkspaces(allOf(workspace), user)

/**
 * The folder itself is in a folder of the service, where the sandbox's user cannot remove it. Returns false
 * when it could not be removed.
 */
function removeEmpty(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') unlinkSync(path)
    return code === 'ENOENT' || code === 'ENOTDIR'
  }
}
