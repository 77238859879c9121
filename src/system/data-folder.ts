import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ownFolderId } from './data-folder-id.ts'
import { firstClosedFolder } from './folder-access.ts'
import { createOwnFolder } from './own-folder.ts'
import { reportsFullDisk } from './start-error.ts'
import type { SystemUser, SystemUsers } from './users.ts'

/** Absolute real paths of the data folder and its parts. */
export type DataFolder = {
  root: string
  /** What this one is called, whatever the machine is. */
  id: string
  /** What the embedded database needs, ours: its files in there are the database user's. */
  postgres: string
  /** Bare mirrors, 0750, of the service user; its group is the sandbox user's, who may read them. */
  mirrors: string
  /** Bundles that came out of sandboxes, 0700, ours: git is given them by descriptor. */
  bundles: string
  /** One folder a run, each of the sandbox user; 0711, so that knowing a name is needed to enter. */
  workspaces: string
  /** The files of commits that workspaces are layers on; 0711. */
  templates: string
  /** 0700, ours. */
  logs: string
}

/** Returns the folder that `prepareDataFolder` will use. Nothing is created. */
export function locateDataFolder({
  path,
  clone_dir,
  users,
}: {
  path: string | null
  clone_dir: string
  users: SystemUsers
}): string {
  return path === null ? defaultFolder(clone_dir, users) : resolve(path)
}

/**
 * Picks the data folder and makes it and its parts with the right owners and modes. `path` null:
 * `<clone_dir>/data`, or `/var/lib/agentrun-<hash>` when we are root and the service's users cannot enter the
 * clone; data created earlier is found again. Throws an Error whose message is one line that states what to
 * do.
 */
export function prepareDataFolder(options: {
  path: string | null
  clone_dir: string
  users: SystemUsers
}): DataFolder {
  const { users } = options
  const wanted = locateDataFolder(options)
  try {
    createRoot(wanted, users)
    const root = realpathSync(wanted)
    const part = (name: string, mode: number, owner: SystemUser | null) => {
      createOwnFolder(join(root, name), mode, owner)
      return join(root, name)
    }
    return {
      root,
      id: ownFolderId(root),
      postgres: part('postgres', users.service ? 0o711 : 0o700, null),
      mirrors: part('mirrors', 0o750, users.service),
      bundles: part('bundles', 0o700, null),
      workspaces: part('workspaces', 0o711, null),
      templates: part('templates', 0o711, null),
      logs: part('logs', 0o700, null),
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined || reportsFullDisk(error)) throw error
    throw new Error(
      `cannot use ${wanted} as data folder (${code}): set AGENTRUN_DATA_DIR to a folder that this user may write`,
      {
        cause: error,
      },
    )
  }
}

/**
 * Returns where `prepareDataFolder` has put the data. Nothing is created. Throws one line when there is none
 * yet, or when it is another user's.
 */
export function findDataFolder(options: { path: string | null; clone_dir: string; users: SystemUsers }): {
  root: string
  postgres: string
} {
  const wanted = locateDataFolder(options)
  if (!existsSync(join(wanted, 'postgres')))
    throw new Error(`there is no data in ${wanted}: start the service once, or set AGENTRUN_DATA_DIR`)
  const root = realpathSync(wanted)
  const owner = foreignOwner(root, options.users)
  if (owner !== null)
    throw new Error(`data folder ${root} belongs to the user with id ${owner}: run this as that user`)
  return { root, postgres: join(root, 'postgres') }
}

/**
 * The user whose data it is when it is not ours; null: it is. As root the owner of the mirrors decides, which
 * the service user has from the first start on.
 */
function foreignOwner(root: string, users: SystemUsers): number | null {
  const { uid } =
    lstatSync(join(root, users.service ? 'mirrors' : 'postgres'), { throwIfNoEntry: false }) ?? {}
  const own = users.service?.uid ?? process.getuid?.()
  return uid === undefined || uid === own ? null : uid
}

/** Data of an earlier start wins, so that a changed mode of some folder above never looks like lost data. */
function defaultFolder(clone_dir: string, users: SystemUsers): string {
  const in_clone = join(realpathSync(clone_dir), 'data')
  if (!users.service || existsSync(join(in_clone, 'postgres'))) return in_clone
  const elsewhere = `/var/lib/agentrun-${createHash('sha256').update(in_clone).digest('hex').slice(0, 12)}`
  return existsSync(elsewhere) || firstClosedFolder(clone_dir, users) !== null ? elsewhere : in_clone
}

/**
 * What does not make an empty folder another program's: that of a new file system, and the configuration of
 * the first start.
 */
const may_be_there_before = ['lost+found', '.env', 'agentrun.toml']

/**
 * Makes the top folder and refuses one whose owner and mode are not ours to change. As root it is root's: a
 * part of it that belongs to another user cannot be replaced by a link then.
 */
function createRoot(root: string, users: SystemUsers): void {
  const names = existsSync(root) ? readdirSync(root).filter(name => !may_be_there_before.includes(name)) : []
  if (names.length > 0 && !names.includes('postgres')) {
    throw new Error(
      `${root} is neither empty nor a data folder of this service: set AGENTRUN_DATA_DIR to an empty or new folder`,
    )
  }
  const owner = foreignOwner(root, users)
  if (owner !== null) {
    throw new Error(
      `data folder ${root} belongs to the user with id ${owner}: start as that user, or set AGENTRUN_DATA_DIR to another folder`,
    )
  }
  createOwnFolder(existsSync(root) ? realpathSync(root) : root, users.service ? 0o711 : 0o700, null)
  const closed = firstClosedFolder(root, users)
  if (closed) {
    throw new Error(
      `the user ${users.service?.name} cannot reach data folder ${root}: run chmod o+x ${closed}, or set AGENTRUN_DATA_DIR to another folder`,
    )
  }
}
