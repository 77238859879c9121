import { closeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { writePipeLine } from '../../system/write-pipe-line.ts'
import { PING_MS, type PingRequest } from './pings.ts'

/** The thread that writes the pings. It ends with its last pipe. */
const pipes = new Set<number>()
const timer = setInterval(() => {
  for (const pipe of pipes) ping(pipe)
}, PING_MS)

parentPort?.on('message', ({ kind, pipe }: PingRequest) => {
  if (kind === 'add') pipes.add(pipe)
  else close(pipe)
})

function ping(pipe: number): void {
  try {
    writePipeLine(pipe, '.')
  } catch {
    // A full pipe: its reader is gone, and the ping gets no response.
  }
}

function close(pipe: number): void {
  pipes.delete(pipe)
  closeSync(pipe)
  if (pipes.size > 0) return
  clearInterval(timer)
  parentPort?.close()
}
