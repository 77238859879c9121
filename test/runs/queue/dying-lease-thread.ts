import { parentPort } from 'node:worker_threads'
import '../../../src/worker/claim/lease-thread.ts'

/**
 * The thread that renews leases, which ends when a renewal is requested of it: as one that ran out of memory.
 */
parentPort?.on('message', ({ kind }: { kind: string }) => {
  if (kind === 'renew') process.exit(1)
})
