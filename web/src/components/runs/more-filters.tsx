import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { call } from '../../api/client.ts'
import { reasonNames, sourceNames } from '../../api/names.ts'
import { modelsQuery } from '../../api/queries.ts'
import type { RunListSearch } from '../../search-params.ts'
import { Button } from '../../ui/button.tsx'
import { FilterBox } from '../../ui/filter-box.tsx'
import { Day, FilterSelect, named, type Option, sameNames } from '../filters.tsx'

const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: async ({ signal }) => (await call('listMembers', { query: { limit: 100 }, signal })).items,
  staleTime: 300_000,
})

const no_filters = {
  user: undefined,
  model: undefined,
  source: undefined,
  reason: undefined,
  tag: undefined,
  from: undefined,
  to: undefined,
}

type Props = { search: RunListSearch; change: (next: Partial<RunListSearch>) => void }

/**
 * The filters of the run list that are needed less often: failure reason, person, model, source, tag and
 * days.
 */
export function MoreFilters({ search, change }: Props) {
  const box = useRef<HTMLInputElement>(null)
  const people = useQuery(peopleQuery).data ?? []
  const models = useQuery(modelsQuery).data?.providers.flatMap(provider => provider.models) ?? []
  const persons = people.map(
    ({ user_id, full_name, email }): Option<number> => [user_id, full_name ?? email ?? `User ${user_id}`],
  )
  return (
    <div className="flex flex-wrap items-center gap-2">
      <FilterSelect
        label="Person"
        any="Anyone"
        value={search.user}
        options={persons}
        on_choose={user => change({ user })}
      />
      <FilterSelect
        label="Model"
        any="Any model"
        value={search.model}
        options={sameNames(models.map(({ value }) => value))}
        on_choose={model => change({ model })}
      />
      <FilterSelect
        label="Source"
        any="Any source"
        value={search.source}
        options={named(sourceNames)}
        on_choose={source => change({ source })}
      />
      <FilterSelect
        label="Reason"
        any="Any reason"
        value={search.reason}
        options={named(reasonNames)}
        on_choose={reason => change({ reason })}
      />
      <FilterBox
        box={box}
        label="Tag"
        placeholder="Tag"
        value={search.tag ?? ''}
        on_text={tag => change({ tag })}
        className="w-28"
      />
      <span className="flex items-center gap-1.5 text-muted text-xs">
        <span aria-hidden>Created</span>
        <Day label="Created from" value={search.from} max={search.to} on_change={from => change({ from })} />
        <span aria-hidden>–</span>
        <Day label="Created to" value={search.to} min={search.from} on_change={to => change({ to })} />
      </span>
      {Object.keys(no_filters).some(name => search[name as keyof typeof no_filters] !== undefined) && (
        <Button variant="quiet" onClick={() => change(no_filters)}>
          Clear filters
        </Button>
      )}
    </div>
  )
}
