import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Result } from '../../../../../src/contract/calls.ts'
import { nextSkip } from '../../../api/all-items.ts'
import { call } from '../../../api/client.ts'
import type { DeliveriesSearch } from '../../../search-params.ts'

export type Webhook = Result<'getWebhook'>
export type Delivery = Result<'listWebhookDeliveries'>['items'][number]
export type DeliveryDetail = Result<'getWebhookDelivery'>

const PAGE_SIZE = 50

/** No stream reports attempts, so that what waits for one is fetched again while it is shown. */
const WAITING_REFETCH_MS = 3_000

export const webhookQuery = queryOptions({
  queryKey: ['webhook'],
  queryFn: ({ signal }) => call('getWebhook', { signal }),
  staleTime: 0,
})

export const deliveriesQuery = ({ state, event, run }: DeliveriesSearch) =>
  infiniteQueryOptions({
    queryKey: ['webhook-deliveries', state, event, run],
    queryFn: ({ pageParam, signal }) =>
      call('listWebhookDeliveries', {
        query: {
          state: state && [state],
          type: event && [event],
          agent_run_id: run === undefined ? undefined : [run],
          skip: pageParam,
          limit: PAGE_SIZE,
        },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: nextSkip,
    staleTime: 0,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(page => page.items.some(item => item.state === 'pending'))
        ? WAITING_REFETCH_MS
        : false,
  })

export const deliveryQuery = (delivery_id: number) =>
  queryOptions({
    queryKey: ['webhook-delivery', delivery_id],
    queryFn: ({ signal }) => call('getWebhookDelivery', { params: { delivery_id }, signal }),
    staleTime: 0,
    refetchInterval: ({ state: { data } }) => (data?.state === 'pending' ? WAITING_REFETCH_MS : false),
  })
