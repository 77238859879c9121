import { useNavigate, useSearch } from '@tanstack/react-router'
import { SlidersHorizontal } from 'lucide-react'
import { lazy, Suspense, useRef, useState } from 'react'
import type { Result } from '../../../../src/contract/calls.ts'
import { RunStatuses } from '../../api/names.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { FilterBox } from '../../ui/filter-box.tsx'

type Repository = Result<'listRepositories'>['items'][number]

const MoreFilters = lazy(() => import('./more-filters.tsx'))

/** The filters of the run list. They live in the address, so that a filtered list can be sent to someone. */
export function RunFilters({ repositories }: { repositories: Repository[] }) {
  const search = useSearch({ from: '/app/' })
  const navigate = useNavigate({ from: '/' })
  const change = (next: Partial<typeof search>) => navigate({ search: { ...search, ...next }, replace: true })
  const box = useRef<HTMLInputElement>(null)
  const [opened, setOpened] = useState(false)
  const { reason, user, model, source, tag, from, to } = search
  const used = [reason, user, model, source, tag, from, to].filter(value => value !== undefined).length
  const open = opened || used > 0
  const [status, ...more] = search.status ?? []
  return (
    <search className="block space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <FilterBox
          box={box}
          label="Text in title or prompt"
          placeholder="Title or prompt"
          value={search.q ?? ''}
          on_text={q => change({ q })}
          className="min-w-48 flex-1"
        />
        <Select
          aria-label="Status"
          className="w-auto! max-w-48"
          value={more.length > 0 ? 'several' : (status ?? '')}
          onChange={event => {
            const chosen = RunStatuses.find(name => name === event.target.value)
            void change({ status: chosen && [chosen] })
          }}
        >
          <option value="">Any status</option>
          {more.length > 0 && <option value="several">{search.status?.join(', ')}</option>}
          {RunStatuses.map(name => (
            <option key={name}>{name}</option>
          ))}
        </Select>
        <Select
          aria-label="Repository"
          className="w-auto! max-w-56"
          value={search.repo ?? ''}
          onChange={event => change({ repo: event.target.value === '' ? undefined : Number(event.target.value) })}
        >
          <option value="">Any repository</option>
          {repositories.map(repository => (
            <option key={repository.id} value={repository.id}>
              {visible(repository.full_name)}
            </option>
          ))}
        </Select>
        <Button
          aria-expanded={open}
          reason={used > 0 && open ? 'Remove these filters to close them' : null}
          onClick={() => setOpened(!open)}
          className="h-8!"
        >
          <SlidersHorizontal aria-hidden className="size-3.5" /> More filters
        </Button>
      </div>
      {open && (
        <Suspense>
          <MoreFilters search={search} change={change} />
        </Suspense>
      )}
    </search>
  )
}
