import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { childEnv } from './host-child-env.ts'

/** Another process has the data folder. */
export class DataFolderInUse extends Error {
  /** Where that process serves the API; null when it does not, or not yet. */
  readonly address: string | null
  constructor(message: string, address: string | null) {
    super(message)
    this.address = address
  }
}

/** `publishAddress` stores where this process serves the API, for others to read. */
type DataFolderLock = AsyncDisposable & { publishAddress(address: string): void }

const NAME = 'lock'
/** What flock(1) ends with when somebody else has the lock. */
const TAKEN = 1

/**
 * Makes this the only process on a data folder, until disposed of or dead. The lock is the kernel's, on the
 * open file `<path>/lock`, which nobody else may open: it is freed with the process, so nothing is ever
 * stale, and it holds between containers that share the folder too. Rejects with DataFolderInUse, one line
 * that names the process that has it.
 */
export async function lockDataFolder(path: string): Promise<DataFolderLock> {
  const folder = realpathSync(path)
  const lock_file = join(folder, NAME)
  const file = openSync(lock_file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
  try {
    lock(file, folder)
  } catch (error) {
    closeSync(file)
    throw error
  }
  // Opened once more: the lock belongs to the open file above, whose position is no longer the beginning
  // after the first write.
  const write = (text: string) => {
    const again = openSync(lock_file, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW)
    try {
      writeFileSync(again, text)
    } finally {
      closeSync(again)
    }
  }
  write(`${process.pid}\n`)
  return {
    publishAddress: address => write(`${process.pid}\n${address}\n`),
    [Symbol.asyncDispose]: async () => closeSync(file),
  }
}

/**
 * flock(1) locks the open file that it shares with us, and ends: as long as we have the file open we have the
 * lock.
 */
function lock(file: number, folder: string): void {
  const { status, error, stderr } = spawnSync('flock', ['-n', '3'], {
    env: childEnv(),
    stdio: ['ignore', 'ignore', 'pipe', file],
  })
  if (error)
    throw new Error(
      `cannot lock data folder ${folder}: the program flock of util-linux cannot be started (${error.message})`,
    )
  if (status === TAKEN) {
    const { name, address } = holder(file)
    throw new DataFolderInUse(`data folder ${folder} is in use by ${name}`, address)
  }
  if (status !== 0)
    throw new Error(
      `cannot lock data folder ${folder}: ${stderr.toString().trim() || `flock ended with ${status}`}`,
    )
}

/** What the process with the lock wrote into it; one that has not done so yet has no name. */
function holder(file: number): { name: string; address: string | null } {
  const [pid = '', address = ''] = readFileSync(file, 'utf8').split('\n')
  return {
    name: /^\d+$/.test(pid) ? `process ${pid}` : 'another process',
    address: address === '' ? null : address,
  }
}
