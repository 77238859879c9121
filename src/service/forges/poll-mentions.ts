import { firstChanged } from '../../core/forges/mention-rules.ts'
import type { Forges } from '../../forge/forges.ts'
import { ForgeError } from '../../forge/port.ts'
import { noticingGap } from '../../forge/sync.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { findForge } from '../../store/forges/forges.ts'
import { recordSeenUntil, takeDueRepositories } from '../../store/pull-requests/remote-pull-requests.ts'
import type { Services } from '../context.ts'
import { failureFields, noteFailure } from './forge-health.ts'
import { mentionName } from './receive-delivery.ts'
import { type MentionSource, mentionsSince, recordMentions } from './record-mentions.ts'

/** How often the changes of a repository are listed. */
const POLL_INTERVAL_SECONDS = 300
const BATCH = 100
/** Connections that are polled at a time, each for one repository after the other. */
const CONCURRENT_CONNECTIONS = 4
/** Issues and pull requests that one poll reads; the next poll continues there. */
const MAX_SUBJECTS = 50
/** Changes of the last minutes before a poll are read again by the next one: a forge may list them late. */
const OVERLAP_MS = 300_000
/** The pause of a rate-limited connection, unless it requests a longer one, up to a maximum. */
const DEFAULT_PAUSE_SECONDS = 60
const MAX_PAUSE_SECONDS = 3_600

type Warn = (message: string, fields: Record<string, unknown>) => void
type OnFailure = (error: unknown) => void

/** Until when connections are not polled, in this process. */
const paused = new WeakMap<Forges, Map<number, number>>()

/** Polls repositories on forges for mentions whose delivery was lost. */
export async function pollMentions(services: Services, warn: Warn): Promise<void> {
  const onFailure: OnFailure = error => warn('a forge could not be polled for mentions', failureFields(error))
  const pauses = paused.get(services.forges) ?? new Map<number, number>()
  paused.set(services.forges, pauses)
  let due: RepositoryRow[]
  do {
    due = await takeDueRepositories(services.db, POLL_INTERVAL_SECONDS, BATCH)
    const sources = []
    for (const repository of due) sources.push(await sourceOf(services, repository, onFailure))
    const connections = [
      ...Map.groupBy(
        sources.filter(source => source !== null),
        ({ forge }) => forge.id,
      ),
    ]
    const pollInTurn = async () => {
      for (let next = connections.shift(); next; next = connections.shift())
        await pollConnection(services, next, pauses, onFailure)
    }
    await Promise.all(Array.from({ length: CONCURRENT_CONNECTIONS }, pollInTurn))
  } while (due.length === BATCH)
}

/** Null: the repository is on no connected forge, or the name of our account there is not known yet. */
async function sourceOf(
  services: Services,
  repository: RepositoryRow,
  onFailure: OnFailure,
): Promise<MentionSource | null> {
  try {
    const on = await services.forges.of(repository)
    const forge = on && (await findForge(services.db, on.connection_id))
    return on && forge && mentionName(forge) !== '' ? { forge, on, repository } : null
  } catch (error) {
    onFailure(error)
    return null
  }
}

async function pollConnection(
  services: Services,
  [connection_id, sources]: [number, MentionSource[]],
  pauses: Map<number, number>,
  onFailure: OnFailure,
): Promise<void> {
  for (const source of sources) {
    if ((pauses.get(connection_id) ?? 0) > Date.now()) return
    // Any error: the repositories after this one are taken already, so no other process polls them.
    try {
      await pollRepository(services, source, onFailure)
    } catch (error) {
      onFailure(error)
      if (endsPoll(error)) {
        const seconds = Math.min(error.retry_after_seconds ?? DEFAULT_PAUSE_SECONDS, MAX_PAUSE_SECONDS)
        pauses.set(connection_id, Date.now() + seconds * 1_000)
      }
      await noteFailure(services, source.forge, error)
    }
  }
}

/**
 * Continues where the last poll ended, by the clock of the forge: up to where everything was recorded, so
 * whatever ends a poll, the next finds the rest.
 */
async function pollRepository(
  services: Services,
  source: MentionSource,
  onFailure: OnFailure,
): Promise<void> {
  const { db } = services
  const { organization_id, id, forge_seen_until: from } = source.repository
  const since = new Date(Math.max(mentionsSince(source).getTime(), from?.getTime() ?? 0))
  let until = since
  let held = false
  try {
    const { subjects, through, clock } = await noticingGap(db, source.on, source.repository, 'issues', () =>
      source.on.forge.listChanged(source.on.repository, since),
    )
    const some = firstChanged(subjects, since, MAX_SUBJECTS)
    for (const subject of some) {
      await recordMentions(services, source, subject).catch(error => {
        if (endsPoll(error)) throw error
        onFailure(error)
        held ||= !isPermanent(error)
      })
      if (!held) until = subject.changed_at
    }
    if (!held && some.length === subjects.length) {
      if (through) until = through
      else if (clock) until = new Date(clock.getTime() - OVERLAP_MS)
    }
  } finally {
    await recordSeenUntil(db, organization_id, id, { from, until })
  }
}

/** No other request of that connection would succeed now. */
const endsPoll = (error: unknown): error is ForgeError =>
  error instanceof ForgeError && (error.code === 'rate_limited' || error.code === 'auth')

/** The subject is deleted, or cannot be read: it is not retried. */
const isPermanent = (error: unknown): boolean => error instanceof ForgeError && !error.retryable
