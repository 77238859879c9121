import { parentPort, workerData } from 'node:worker_threads'
import { Database } from '../../store/database.ts'
import type { HeartbeatResult } from '../../store/leases/leases.ts'
import { ALONE_CONNECTIONS, type FromThread, JOINED_CONNECTIONS, type ToThread } from './lease-messages.ts'
import { LeaseRenewal } from './lease-renewal.ts'

/** The thread that renews leases: whatever occupies the event loop of its process, this one is free. */
const HEARTBEAT_MS = 1_000

const { connection_string } = workerData as { connection_string: string }
const open = (max: number) => new Database(connection_string, { max, on_error: () => {} })
const send = (message: FromThread) => parentPort?.postMessage(message)
const requestsSomething = ({ status, pausing, deadline_passed, interrupt_requested }: HeartbeatResult) =>
  status === 'cancelling' || pausing || deadline_passed || interrupt_requested

const renewal = new LeaseRenewal({ joined: open(JOINED_CONNECTIONS), alone: open(ALONE_CONNECTIONS) }, (id, result) => {
  if (result === null || requestsSomething(result)) send({ kind: 'result', id, result })
})
let timer: NodeJS.Timeout | undefined

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'renew') renewal.renewNow(message.id)
  else if (message.kind === 'release') {
    void renewal.release(message.id).then(() => send({ kind: 'released', id: message.id }))
  } else renewal.add(message.id, message.claim, message.shared)
  schedule()
})

/** Without runs nothing is sent. */
function schedule(): void {
  if (renewal.claims.length > 0) timer ??= setInterval(() => renewal.renewAll(), HEARTBEAT_MS)
  else {
    clearInterval(timer)
    timer = undefined
  }
}
