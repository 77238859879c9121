import { QueryObserver } from '@tanstack/react-query'
import { statusOf } from './api-error.ts'
import { createQueryClient, readinessQuery } from './queries.ts'

/** The cached responses of the page. */
export const queries = createQueryClient()

const [readiness] = readinessQuery.queryKey

// A request without a response is the first sign that the service is gone: the notice above the page must not
// wait for its own next request.
queries.getQueryCache().subscribe(event => {
  if (event.type !== 'updated' || event.query.queryKey[0] === readiness) return
  const { action } = event
  if ((action.type === 'failed' || action.type === 'error') && statusOf(action.error) === 0) void responds()
})

/** Whether the last request has shown that the service does not respond. */
export const isKnownUnreachable = (): boolean =>
  isUnreachable(queries.getQueryState(readinessQuery.queryKey)?.error)

/**
 * Whether the service responds. After a request that failed, only `untilResponding` and the notice above the
 * page send others.
 */
export async function responds(): Promise<boolean> {
  if (isKnownUnreachable()) return false
  return queries.fetchQuery({ ...readinessQuery, staleTime: 0 }).then(
    () => true,
    error => !isUnreachable(error),
  )
}

/**
 * Resolves when the service responds. All who wait, and the notice above the page, share the same requests.
 */
export function untilResponding(): Promise<void> {
  return new Promise(resolve => {
    const unsubscribe = new QueryObserver(queries, readinessQuery).subscribe(({ error, isFetching }) => {
      if (isFetching || isUnreachable(error)) return
      unsubscribe()
      resolve()
    })
  })
}

const isUnreachable = (error: unknown) => statusOf(error) === 0
