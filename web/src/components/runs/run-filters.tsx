import { useNavigate, useSearch } from '@tanstack/react-router'
import { SlidersHorizontal } from 'lucide-react'
import { useRef, useState } from 'react'
import { RunStatuses } from '../../api/names.ts'
import { Button } from '../../ui/button.tsx'
import { FilterBox } from '../../ui/filter-box.tsx'
import { FilterSelect, RepositoryFilter, sameNames } from '../filters.tsx'
import { MoreFilters } from './more-filters.tsx'

/** The filters of the run list. They live in the address, so that a filtered list can be sent to someone. */
export function RunFilters() {
  const search = useSearch({ from: '/app/' })
  const navigate = useNavigate({ from: '/' })
  const change = (next: Partial<typeof search>) => navigate({ search: { ...search, ...next }, replace: true })
  const box = useRef<HTMLInputElement>(null)
  const [opened, setOpened] = useState(false)
  const { reason, user, model, source, tag, from, to } = search
  const used = [reason, user, model, source, tag, from, to].filter(value => value !== undefined).length
  const open = opened || used > 0
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
        <FilterSelect
          label="Status"
          any="Any status"
          wide
          value={search.status?.join(', ')}
          options={sameNames<string>(RunStatuses)}
          on_choose={chosen => {
            const status = RunStatuses.find(name => name === chosen)
            void change({ status: status && [status] })
          }}
        />
        <RepositoryFilter value={search.repo} on_choose={repo => change({ repo })} />
        <Button
          aria-expanded={open}
          reason={used > 0 && open ? 'Clear these filters to close them' : null}
          onClick={() => setOpened(!open)}
          className="h-8!"
        >
          <SlidersHorizontal aria-hidden className="size-3.5" /> More filters
        </Button>
      </div>
      {open && <MoreFilters search={search} change={change} />}
    </search>
  )
}
