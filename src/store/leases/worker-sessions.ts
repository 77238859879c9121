import type { Statement } from '../database.ts'

/** `application_name` of the connection that a process keeps open for its whole life, to listen. */
export const SESSION_NAME = 'agentrun-listen'
/** First key of the advisory locks; any number that nothing else uses. */
const LOCK_CLASS = 1_634_887_026

/**
 * Acquires the session lock of `owner`, shared by its connection that listens and the one that sends
 * heartbeats. The server releases it when both are closed, which `kill -9` does at once.
 */
export const holdSession = (owner: string): Statement => ({
  text: `select pg_advisory_lock_shared(${LOCK_CLASS}, hashtext($1))`,
  values: [owner],
})

/** A lock that has just become free may belong to a worker that reconnects. */
const QUIET_SECONDS = 0.5

const session_closed = `not exists (select 1 from pg_locks l where l.locktype = 'advisory' and l.objsubid = 2
  and l.database = (select oid from pg_database where datname = current_database())
  and l.classid = ${LOCK_CLASS}::oid and l.objid = (hashtext(w.owner)::bigint & 4294967295)::oid)`

/**
 * Owners whose process is known to be dead without waiting for the end of their leases: their session lock is
 * free, and their last heartbeat is older than half a second. The connection of heartbeats takes the lock
 * before the first one, so a worker that only reconnects keeps its runs. When the server itself restarted,
 * all sessions are closed and prove nothing: a session that is older than the heartbeat shows that it did
 * not. A process on the same data folder needs no such proof, because two processes never share one. A lease
 * shows the last heartbeat only while heartbeats extend it: a run that must stop or pause, or is past its
 * deadline, keeps its owner until the lease ends, which is soon.
 * @param lease_seconds how far a heartbeat extends a lease
 * @param folder, owner parameters of the statement: data folder and owner of the process that sweeps, or null
 */
export const ownerIsDead = (lease_seconds: number, late: string, folder: string, owner: string) => `(
  status <> 'cancelling' and pause_requested_at is null and deadline_at >= now()
  and lease_until < now() + make_interval(secs => ${lease_seconds - QUIET_SECONDS} - ${late})
  and (owner in (select w.owner from workers w where w.folder_id = ${folder} and w.owner <> ${owner} and ${session_closed})
    or owner in (select w.owner from workers w where w.folder_id is not null and ${session_closed})
      and lease_until - make_interval(secs => ${lease_seconds}) >
        (select min(backend_start) from pg_stat_activity where application_name = '${SESSION_NAME}' and datname = current_database())))`
