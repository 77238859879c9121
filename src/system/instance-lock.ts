import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { text } from 'node:stream/consumers'

/** Another process has the data folder. */
export class DataFolderInUse extends Error {}

/**
 * Makes this the only process on a data folder, until disposed of or dead. An abstract socket of Linux is the lock: the kernel
 * frees it with the process, so nothing is ever stale, and it answers with the id of its holder.
 * Rejects with DataFolderInUse, one line that names that process. Holds within one network namespace: two containers are not kept apart.
 */
export async function lockDataFolder(path: string): Promise<AsyncDisposable> {
  const folder = realpathSync(path)
  const address = `\0agentrun:${createHash('sha256').update(folder).digest('hex')}`
  // The holder may end between our two looks: then the name is free and the next attempt gets it.
  for (let attempt = 0; attempt < 20; attempt++) {
    const server = await listen(address)
    if (server) return { [Symbol.asyncDispose]: () => new Promise(resolve => server.close(() => resolve())) }
    const holder = await askHolder(address)
    if (holder) throw new DataFolderInUse(`data folder ${folder} is in use by ${holder}`)
  }
  throw new DataFolderInUse(`data folder ${folder} is in use by another process`)
}

/** The lock, or null when another process has it. */
function listen(address: string): Promise<Server | null> {
  const server = createServer(socket => socket.on('error', () => {}).end(String(process.pid)))
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(null) : reject(error)))
    server.listen(address, () => resolve(server.unref()))
  })
}

/** Names the holder; null when it has just ended. A holder too busy to answer within 2 s is still a holder. */
async function askHolder(address: string): Promise<string | null> {
  const socket = connect(address)
  const late = setTimeout(() => socket.destroy(new Error('no answer')), 2_000)
  try {
    const pid = await text(socket)
    return /^\d+$/.test(pid) ? `process ${pid}` : 'another process'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? null : 'another process'
  } finally {
    clearTimeout(late)
    socket.destroy()
  }
}
