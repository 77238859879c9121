import { write } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { createLog } from '../../core/log.ts'
import type { HeartbeatResult } from '../../store/leases/leases.ts'
import { recordStall } from '../../store/leases/stalls.ts'
import { openLeaseDatabases } from './lease-databases.ts'
import type { Claim, FromThread, ThreadData, ToThread } from './lease-messages.ts'
import { LeaseRenewal } from './lease-renewal.ts'
import { StallWatch } from './stall-watch.ts'

/**
 * The thread that renews leases and watches the event loop of its process: whatever occupies that one, this
 * one is free.
 */
const HEARTBEAT_MS = 1_000
const STDERR = 2

/** How long the last line of the log may take: nobody may read it. */
const LAST_LINE_MS = 1_000

const { connection_string, owner, signs } = workerData as ThreadData
const databases = openLeaseDatabases({ connection_string, owner }, () => renewal.renewAll())
const send = (message: FromThread) => parentPort?.postMessage(message)
const runIds = (claims: Claim[]) => claims.map(({ run_id }) => run_id)
const requestsSomething = ({ status, pausing, deadline_passed, interrupt_requested }: HeartbeatResult) =>
  status === 'cancelling' || pausing || deadline_passed || interrupt_requested

const renewal = new LeaseRenewal(databases, (id, result) => {
  if (result === null || requestsSomething(result)) send({ kind: 'result', id, result })
})
const watch = new StallWatch(signs, {
  record: (claims, in_hand) =>
    recordStall(
      databases.alone,
      claims.map(claim => ({ ...claim, in_hand: in_hand.includes(claim) })),
    ),
  over: (seconds, in_hand) => send({ kind: 'stalled', seconds, run_ids: runIds(in_hand) }),
  end: endProcess,
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
  if (renewal.claims.length > 0) {
    // The connection takes the session lock at once, not only with the first heartbeat.
    if (timer === undefined) databases.joined.query({ text: 'select 1' }).catch(() => {})
    timer ??= setInterval(tick, HEARTBEAT_MS)
  } else if (timer !== undefined) {
    clearInterval(timer)
    timer = undefined
    watch.rest()
  }
}

function tick(): void {
  renewal.renewAll()
  watch.tick(renewal.claims)
}

/**
 * The main thread would not react to anything else. Its supervisor starts the process again, and other
 * workers continue the runs.
 */
function endProcess(seconds: number, in_hand: Claim[]): void {
  clearInterval(timer)
  const kill = () => process.kill(process.pid, 'SIGKILL')
  const log = createLog('error', line => write(STDERR, line, kill))
  log('error', 'the event loop is stalled: the process ends', { seconds, run_ids: runIds(in_hand) })
  setTimeout(kill, LAST_LINE_MS)
}
