import { once } from 'node:events'
import { chmodSync, chownSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOwnFolder } from '../system/own-folder.ts'
import { isAlive } from '../system/processes.ts'

const prefix = 'agentrun-egress-'
const name = 'egress.sock'
/** The kernel's limit for a socket path, without its terminating zero. */
const max_socket_path_bytes = 107

type ListeningSocket = { path: string; remove(): void }

/**
 * Lets `server` listen on a socket in a new folder below `parent`, or below the temporary folder when that
 * path would be too long. `group`: may connect in addition to this user, or null for nobody. `remove` closes
 * nothing.
 */
export async function listenOnSocket(
  server: Server,
  parent: string,
  group: number | null,
): Promise<ListeningSocket> {
  const fits =
    Buffer.byteLength(join(parent, `${prefix}${process.pid}-XXXXXX`, name)) <= max_socket_path_bytes
  const folder = mkdtempSync(join(fits ? parent : tmpdir(), `${prefix}${process.pid}-`))
  const path = join(folder, name)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    server.listen(path)
    await once(server, 'listening')
    if (group !== null) {
      chownSync(path, -1, group)
      chownSync(folder, -1, group)
    }
    chmodSync(path, group === null ? 0o600 : 0o660)
    chmodSync(folder, group === null ? 0o700 : 0o710)
    return { path, remove }
  } catch (error) {
    remove()
    throw error
  }
}

/**
 * Creates the folder that the sandboxes' users can traverse, removes what killed processes of this machine
 * left in it, and returns its path.
 */
export function prepareSocketFolder(folder: string): string {
  createOwnFolder(folder, 0o711, null)
  for (const parent_folder of [folder, tmpdir()])
    for (const entry of readdirSync(parent_folder)) {
      const pid = Number(entry.startsWith(prefix) ? entry.slice(prefix.length).split('-')[0] : 0)
      // In the temporary folder anybody can create such a name: a folder of another owner is not removed,
      // because the owner could replace it meanwhile.
      if (pid > 0 && !isAlive(pid) && isOwn(join(parent_folder, entry)))
        rmSync(join(parent_folder, entry), { recursive: true, force: true })
    }
  return folder
}

const isOwn = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.()
