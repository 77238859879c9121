import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
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

/** The parts of a data folder: one process of each uses it. */
const names = { serve: 'lock', work: 'worker.lock' }
type Part = keyof typeof names

/** What flock(1) ends with when somebody else has the lock. */
const TAKEN = 1

/**
 * Makes this the only process that uses these parts of a data folder, until disposed of or dead. The lock is
 * the kernel's, on an open file of each part, which nobody else may open: it is freed with the process, so
 * nothing is ever stale, and it holds between containers that share the folder too. Rejects with
 * DataFolderInUse, one line that names the process that has it.
 */
export async function lockDataFolder(
  path: string,
  parts: readonly Part[] = ['serve', 'work'],
): Promise<DataFolderLock> {
  const folder = realpathSync(path)
  const files: number[] = []
  const close = () => {
    for (const file of files.splice(0)) closeSync(file)
  }
  try {
    for (const part of parts) {
      const lock_file = join(folder, names[part])
      const file = openSync(lock_file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
      files.push(file)
      lock(file, folder)
      write(lock_file, `${process.pid}\n`)
    }
  } catch (error) {
    close()
    throw error
  }
  return {
    publishAddress: address => write(join(folder, names.serve), `${process.pid}\n${address}\n`),
    [Symbol.asyncDispose]: async () => close(),
  }
}

/**
 * Opens the file once more: the lock belongs to the open file of the lock, whose position is no longer the
 * beginning after the first write.
 */
function write(lock_file: string, text: string): void {
  const file = openSync(lock_file, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW)
  try {
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

/** Waits until no process works on runs in this data folder; false: one still does after `max_ms`. */
export async function awaitWorkerEnd(path: string, max_ms: number): Promise<boolean> {
  const file = join(realpathSync(path), names.work)
  if (!existsSync(file)) return true
  const seconds = String(Math.ceil(max_ms / 1_000))
  const waiting = spawn('flock', ['-w', seconds, file, 'true'], { env: childEnv(), stdio: 'ignore' })
  return new Promise(resolve => {
    waiting.once('error', () => resolve(false))
    waiting.once('exit', code => resolve(code === 0))
  })
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

/** Returns the address of the API that a process serves on this data folder, or null. */
export function publishedAddress(path: string): string | null {
  const file = join(path, names.serve)
  return existsSync(file) ? written(readFileSync(file, 'utf8')).address : null
}

/** What the process with the lock wrote into it; one that has not done so yet has no name. */
const holder = (file: number) => written(readFileSync(file, 'utf8'))

function written(text: string): { name: string; address: string | null } {
  const [pid = '', address = ''] = text.split('\n')
  return {
    name: /^\d+$/.test(pid) ? `process ${pid}` : 'another process',
    address: address === '' ? null : address,
  }
}
