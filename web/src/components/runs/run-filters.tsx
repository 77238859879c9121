import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
import type { Result } from '../../../../src/contract/calls.ts'
import { RunStatuses } from '../../api/names.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Select, Switch } from '../../ui/field.tsx'
import { FilterBox } from '../../ui/filter-box.tsx'

type Repository = Result<'listRepositories'>['items'][number]

/** The filters of the run list. They live in the address, so that a filtered list can be sent to someone. */
export function RunFilters({ repositories }: { repositories: Repository[] }) {
  const search = useSearch({ from: '/app/' })
  const navigate = useNavigate({ from: '/' })
  const change = (next: Partial<typeof search>) => navigate({ search: { ...search, ...next }, replace: true })
  const box = useRef<HTMLInputElement>(null)
  return (
    <search className="flex flex-wrap items-center gap-2">
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
        className="w-auto!"
        value={search.status ?? ''}
        onChange={event => change({ status: RunStatuses.find(status => status === event.target.value) })}
      >
        <option value="">Any status</option>
        {RunStatuses.map(status => (
          <option key={status}>{status}</option>
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
      {search.tag && (
        <button type="button" onClick={() => change({ tag: undefined })} title="Remove this filter">
          <Badge tone="accent">tag {visible(search.tag)} ×</Badge>
        </button>
      )}
      <Switch
        label="Archived"
        checked={search.archived ?? false}
        onChange={event => change({ archived: event.target.checked || undefined })}
      />
    </search>
  )
}
