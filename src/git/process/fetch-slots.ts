import { createSemaphore, type Semaphore } from '../../core/concurrency/semaphore.ts'
import { GitError } from './git-error.ts'

/**
 * How many remotes are read at the same time, of one organization and in total: each costs processes, and a
 * remote that hangs keeps them.
 */
const OF_ORGANIZATION = 8
const IN_TOTAL = 32

/**
 * Waits until a remote of this organization may be read, then does `work`. Rejects when the host closes
 * meanwhile.
 */
export type FetchSlots = <T>(organization_id: number | undefined, work: () => Promise<T>) => Promise<T>

/**
 * An organization whose remotes all hang waits for itself: it occupies a quarter of the slots. `work` must
 * not read another remote. Pushes need none, because a worker has few runs.
 */
export function createFetchSlots(closing: AbortSignal): FetchSlots {
  const total = createSemaphore(IN_TOTAL)
  // One for each organization that this process has fetched for.
  const organizations = new Map<number | undefined, Semaphore>()
  const enter = async (semaphore: Semaphore) => {
    const leave = await semaphore.enter(closing)
    if (leave === null) throw new GitError('unreachable', 'the service is stopping')
    return leave
  }
  return async (organization_id, work) => {
    const own = organizations.get(organization_id) ?? createSemaphore(OF_ORGANIZATION)
    organizations.set(organization_id, own)
    const leaveOwn = await enter(own)
    try {
      const leaveTotal = await enter(total)
      try {
        return await work()
      } finally {
        leaveTotal()
      }
    } finally {
      leaveOwn()
    }
  }
}
