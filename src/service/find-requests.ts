import { firstChanged } from '../core/forge-asks.ts'
import { HEARD_MS } from '../core/forge-event.ts'
import type { OnForge } from '../forge/forges.ts'
import { ForgeError } from '../forge/port.ts'
import { findForge } from '../store/forges.ts'
import { recordSeenUntil, takeDueRepositories } from '../store/remote-pull-requests.ts'
import type { RepositoryRow } from '../store/repositories.ts'
import type { Services } from './context.ts'
import { failureFields, noteFailure } from './forge-health.ts'
import { takeAsked } from './take-asked.ts'

/** Of each repository it is asked so often what has changed. */
const LOOK_SECONDS = 300
const AT_ONCE = 10
/** So many issues and pull requests are looked into at a time; the next look goes on from there. */
const MOST = 50
/** What changed in the last minutes before a look is looked into once more by the next: a forge may say it late. */
const OVERLAP_MS = 300_000

type Say = (message: string, fields: Record<string, unknown>) => void

/** Looks for what people asked for in repositories on forges, in case nobody told us. */
export async function findRequests(services: Services, log: Say): Promise<void> {
  let due: RepositoryRow[]
  do {
    due = await takeDueRepositories(services.db, LOOK_SECONDS, AT_ONCE)
    for (const repository of due) await lookSafely(services, repository, log)
  } while (due.length === AT_ONCE)
}

async function lookSafely(services: Services, repository: RepositoryRow, log: Say): Promise<void> {
  const failed = (error: unknown) => log('what people ask for on a forge could not be looked at', failureFields(error))
  let on: OnForge | null = null
  // Whatever it is: those after it are taken already, and nobody else looks at them.
  try {
    on = await services.forges.of(repository)
    if (on) await lookThrough(services, repository, on, failed)
  } catch (error) {
    if (on) await noteFailure(services, { organization_id: repository.organization_id, id: on.connection_id }, error)
    failed(error)
  }
}

/**
 * From where the last look came to, which is as far as everything was written down, by the clock of the forge: whatever ends a look, the next
 * finds the rest.
 */
async function lookThrough(services: Services, repository: RepositoryRow, on: OnForge, failed: (error: unknown) => void): Promise<void> {
  const { db } = services
  const { organization_id, id, forge_seen_until: from } = repository
  const forge = await findForge(db, on.connection_id)
  if (!forge) return
  const since = new Date(Math.max(Date.now() - HEARD_MS, from?.getTime() ?? 0))
  let until = since
  try {
    const { subjects, through, clock } = await on.forge.listChanged(on.repository, since)
    const some = firstChanged(subjects, since, MOST)
    for (const subject of some) {
      await takeAsked(services, { forge, on, repository }, subject).catch(error => {
        if (!isGone(error)) throw error
        failed(error)
      })
      until = subject.changed_at
    }
    if (some.length === subjects.length) {
      if (through) until = through
      else if (clock) until = new Date(clock.getTime() - OVERLAP_MS)
    }
  } finally {
    await recordSeenUntil(db, organization_id, id, { from, until })
  }
}

/** It is not there any more, or nobody may or can read it: those after it are not to wait for it. */
const isGone = (error: unknown): error is ForgeError => error instanceof ForgeError && !error.retryable && error.code !== 'auth'
