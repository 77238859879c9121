import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Send } from 'lucide-react'
import { useRef, useState } from 'react'
import { deliveryStates, webhookEvents } from '../../../api/names.ts'
import { FilterSelect, named, sameNames } from '../../../components/filters.tsx'
import { isFiltered, NothingMatches, PagedList, totalNote } from '../../../components/paged-list.tsx'
import type { DeliveriesSearch } from '../../../search-params.ts'
import { ago, moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { FilterBox } from '../../../ui/filter-box.tsx'
import { Blank } from '../../../ui/notice.tsx'
import { useNow } from '../../../ui/now.ts'
import { type Column, Table } from '../../../ui/table.tsx'
import { DeliveryState } from './delivery-state.tsx'
import { RetryFailed } from './retry-failed.tsx'
import { type Delivery, deliveriesQuery } from './webhooks-query.ts'

/** The messages to the webhook of the organization and to those of runs, newest first. */
export function Deliveries() {
  const search = useSearch({ from: '/app/settings/webhooks/' })
  const deliveries = useInfiniteQuery(deliveriesQuery(search))
  const now = useNow(true, 15_000)
  const [retrying, setRetrying] = useState(false)
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="font-semibold">Deliveries</h2>
        <span className="tabular text-faint">{totalNote(deliveries)}</span>
        <div className="flex-1" />
        <Button onClick={() => setRetrying(true)}>Retry failed ones…</Button>
      </div>
      <Filters search={search} />
      <PagedList
        list={deliveries}
        nouns={['delivery', 'deliveries']}
        empty={
          isFiltered(search) ? (
            <NothingMatches what="delivery" link={{ to: '/settings/webhooks' }} />
          ) : (
            <NoneYet />
          )
        }
      >
        {items => <Table label="Deliveries" columns={columns(now)} rows={items} row_key={({ id }) => id} />}
      </PagedList>
      {retrying && (
        <Dialog title="Retry failed deliveries" on_close={() => setRetrying(false)}>
          <RetryFailed />
        </Dialog>
      )}
    </div>
  )
}

const NoneYet = () => (
  <Blank icon={<Send />} title="No deliveries yet">
    Each message is listed here with its attempts, for 30 days.
  </Blank>
)

const states = named(deliveryStates)
const events = sameNames(Object.keys(webhookEvents) as (keyof typeof webhookEvents)[])

function Filters({ search }: { search: DeliveriesSearch }) {
  const navigate = useNavigate({ from: '/settings/webhooks/' })
  const change = (next: DeliveriesSearch) => navigate({ search: { ...search, ...next }, replace: true })
  const box = useRef<HTMLInputElement>(null)
  return (
    <search className="flex flex-wrap items-center gap-2">
      <FilterSelect
        label="State"
        any="Any state"
        value={search.state}
        options={states}
        on_choose={state => change({ state })}
      />
      <FilterSelect
        label="Event"
        any="Any event"
        value={search.event}
        options={events}
        on_choose={event => change({ event })}
      />
      <FilterBox
        box={box}
        label="Number of the run"
        placeholder="Run"
        value={String(search.run ?? '')}
        on_text={run =>
          change({ run: run !== undefined && /^\d{1,15}$/.test(run) ? Number(run) : undefined })
        }
        className="w-28"
      />
    </search>
  )
}

const columns = (now: number): Column<Delivery>[] => [
  {
    name: 'Event',
    main: true,
    cell: ({ id, type }) => (
      <Link
        to="/settings/webhooks/$deliveryId"
        params={{ deliveryId: String(id) }}
        aria-label={`${type}, delivery ${id}`}
        className="font-medium after:absolute after:inset-0 hover:underline"
      >
        {type}
      </Link>
    ),
  },
  { name: 'Run', cell: ({ agent_run_id }) => <span className="tabular">#{agent_run_id}</span> },
  {
    name: 'To',
    wide_only: true,
    cell: ({ url }) => (
      <span className="text-muted">{url === null ? 'the organization' : visible(hostOf(url))}</span>
    ),
  },
  {
    name: 'State',
    cell: ({ state, last_status }) => <DeliveryState state={state} last_status={last_status} />,
  },
  { name: 'Attempts', align: 'end', wide_only: true, cell: ({ attempts }) => attempts },
  {
    name: 'When',
    wide_only: true,
    cell: ({ created_at }) => (
      <time dateTime={created_at} title={moment(created_at)} className="text-muted">
        {ago(created_at, now)}
      </time>
    ),
  },
]

const hostOf = (url: string) => URL.parse(url)?.host ?? url
