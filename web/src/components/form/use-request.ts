import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { notify } from '../../ui/toast.ts'

type Query = { queryKey: QueryKey }

/** What follows a request; if it succeeded, in this order. */
export type Effects<Result> = {
  /** The query whose data the response is. */
  stored?: Query
  /** The queries that are fetched again. */
  refresh?: Query[]
  /** The message that confirms it. */
  done?: string | ((result: Result) => string)
  on_done?: (result: Result) => unknown
  /** The queries that are fetched again at the end, also if it failed: it may have changed something. */
  settled?: Query[]
  /** If it failed, where the page does not show the error by itself. */
  on_error?: (error: Error) => unknown
}

/** A request that changes something, with what follows it. */
export function useRequest<Result, Variables = void>(
  send: (variables: Variables) => Promise<Result>,
  { stored, refresh = [], done, on_done, settled = [], on_error }: Effects<Result> = {},
) {
  const queries = useQueryClient()
  const fetchAgain = (changed: Query[]) =>
    Promise.all(changed.map(({ queryKey }) => queries.invalidateQueries({ queryKey })))
  return useMutation({
    mutationFn: send,
    onSuccess: async result => {
      if (stored) queries.setQueryData(stored.queryKey, result)
      await fetchAgain(refresh)
      if (done) notify(typeof done === 'string' ? done : done(result))
      await on_done?.(result)
    },
    onError: on_error,
    onSettled: () => fetchAgain(settled),
  })
}
