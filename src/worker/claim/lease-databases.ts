import { Database } from '../../store/database.ts'
import { holdSession } from '../../store/leases/worker-sessions.ts'
import { ALONE_CONNECTIONS, JOINED_CONNECTIONS } from './lease-messages.ts'

/** `connection_string` of the database, and the name of this process as an owner of runs. */
type LeaseOwner = { connection_string: string; owner: string }

/**
 * Opens the connections of heartbeats. Each of them takes the session lock of the process before its first
 * statement: a worker whose connections all break, as at the restart of a proxy, is taken for dead half a
 * second after its last heartbeat unless one has returned.
 * @param onBroken called when an idle connection breaks: send a heartbeat, which opens another one
 */
export function openLeaseDatabases(
  { connection_string, owner }: LeaseOwner,
  onBroken: () => void,
): { joined: Database; alone: Database } {
  const session = holdSession(owner)
  return {
    joined: new Database(connection_string, { max: JOINED_CONNECTIONS, on_error: onBroken, session }),
    alone: new Database(connection_string, { max: ALONE_CONNECTIONS, on_error: () => {}, session }),
  }
}
