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

/** Of each repository it is asked so often what has changed. */
const LOOK_SECONDS = 300
const AT_ONCE = 100
/** So many connections are asked side by side, each for one repository after the other. */
const CONNECTIONS_AT_ONCE = 4
/** So many issues and pull requests are looked into at a time; the next look goes on from there. */
const MOST = 50
/** What changed in the last minutes before a look is looked into once more by the next: a forge may say it late. */
const OVERLAP_MS = 300_000
/** A connection that takes no more is left alone for so long, or for as long as it says, but not for longer than that. */
const REST_SECONDS = 60
const LONGEST_REST_SECONDS = 3_600

type Say = (message: string, fields: Record<string, unknown>) => void
type Failed = (error: unknown) => void

/** Until when connections are left alone, in this process. */
const resting = new WeakMap<Forges, Map<number, number>>()

/** Looks for what people asked for in repositories on forges, in case nobody told us. */
export async function pollMentions(services: Services, log: Say): Promise<void> {
  const failed: Failed = error => log('what people ask for on a forge could not be looked at', failureFields(error))
  const rests = resting.get(services.forges) ?? new Map<number, number>()
  resting.set(services.forges, rests)
  let due: RepositoryRow[]
  do {
    due = await takeDueRepositories(services.db, LOOK_SECONDS, AT_ONCE)
    const places = []
    for (const repository of due) places.push(await placeOf(services, repository, failed))
    const connections = [
      ...Map.groupBy(
        places.filter(place => place !== null),
        ({ forge }) => forge.id,
      ),
    ]
    const oneAfterTheOther = async () => {
      for (let next = connections.shift(); next; next = connections.shift()) await lookAtAll(services, next, rests, failed)
    }
    await Promise.all(Array.from({ length: CONNECTIONS_AT_ONCE }, oneAfterTheOther))
  } while (due.length === AT_ONCE)
}

/** Null: there is nothing to ask, or nobody who could be asked for anything, since it is not known yet what we are called there. */
async function placeOf(services: Services, repository: RepositoryRow, failed: Failed): Promise<MentionSource | null> {
  try {
    const on = await services.forges.of(repository)
    const forge = on && (await findForge(services.db, on.connection_id))
    return on && forge && mentionName(forge) !== '' ? { forge, on, repository } : null
  } catch (error) {
    failed(error)
    return null
  }
}

async function lookAtAll(
  services: Services,
  [connection_id, places]: [number, MentionSource[]],
  rests: Map<number, number>,
  failed: Failed,
): Promise<void> {
  for (const place of places) {
    if ((rests.get(connection_id) ?? 0) > Date.now()) return
    // Whatever it is: those after it are taken already, and nobody else looks at them.
    try {
      await lookThrough(services, place, failed)
    } catch (error) {
      failed(error)
      if (endsLooks(error)) {
        const seconds = Math.min(error.retry_after_seconds ?? REST_SECONDS, LONGEST_REST_SECONDS)
        rests.set(connection_id, Date.now() + seconds * 1_000)
      }
      await noteFailure(services, place.forge, error)
    }
  }
}

/**
 * From where the last look came to, which is as far as everything was written down, by the clock of the forge: whatever ends a look, the next
 * finds the rest.
 */
async function lookThrough(services: Services, place: MentionSource, failed: Failed): Promise<void> {
  const { db } = services
  const { organization_id, id, forge_seen_until: from } = place.repository
  const since = new Date(Math.max(mentionsSince(place).getTime(), from?.getTime() ?? 0))
  let until = since
  let held = false
  try {
    const { subjects, through, clock } = await noticingGap(db, place.on, place.repository, 'issues', () =>
      place.on.forge.listChanged(place.on.repository, since),
    )
    const some = firstChanged(subjects, since, MOST)
    for (const subject of some) {
      await recordMentions(services, place, subject).catch(error => {
        if (endsLooks(error)) throw error
        failed(error)
        held ||= !isGone(error)
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

/** The forge takes nothing more of that connection, whatever it is asked. */
const endsLooks = (error: unknown): error is ForgeError =>
  error instanceof ForgeError && (error.code === 'rate_limited' || error.code === 'auth')

/** It is not there any more, or nobody may or can read it: it is not tried again. */
const isGone = (error: unknown): boolean => error instanceof ForgeError && !error.retryable
