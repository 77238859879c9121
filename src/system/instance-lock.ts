import { spawnSync } from 'node:child_process'
import { closeSync, constants, ftruncateSync, openSync, readFileSync, realpathSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { childEnv } from './host-child-env.ts'

/** Another process has the data folder. */
export class DataFolderInUse extends Error {}

const NAME = 'lock'
/** What flock(1) ends with when somebody else has the lock. */
const TAKEN = 1

/**
 * Makes this the only process on a data folder, until disposed of or dead. The lock is the kernel's, on the open file `<path>/lock`, which
 * nobody else may open: it is freed with the process, so nothing is ever stale, and it holds between containers that share the folder too.
 * Rejects with DataFolderInUse, one line that names the process that has it.
 */
export async function lockDataFolder(path: string): Promise<AsyncDisposable> {
  const folder = realpathSync(path)
  const file = openSync(join(folder, NAME), constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
  try {
    lock(file, folder)
  } catch (error) {
    closeSync(file)
    throw error
  }
  ftruncateSync(file)
  writeSync(file, `${process.pid}\n`, 0)
  return { [Symbol.asyncDispose]: async () => closeSync(file) }
}

/** flock(1) locks the open file that it shares with us, and ends: as long as we have the file open we have the lock. */
function lock(file: number, folder: string): void {
  const { status, error, stderr } = spawnSync('flock', ['-n', '3'], { env: childEnv(), stdio: ['ignore', 'ignore', 'pipe', file] })
  if (error) throw new Error(`cannot lock data folder ${folder}: the program flock of util-linux cannot be started (${error.message})`)
  if (status === TAKEN) throw new DataFolderInUse(`data folder ${folder} is in use by ${holder(file)}`)
  if (status !== 0) throw new Error(`cannot lock data folder ${folder}: ${stderr.toString().trim() || `flock ended with ${status}`}`)
}

/** Who wrote itself down; one that has the lock and has not done so yet has no name. */
function holder(file: number): string {
  const pid = readFileSync(file, 'utf8').trim()
  return /^\d+$/.test(pid) ? `process ${pid}` : 'another process'
}
