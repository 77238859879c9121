import { useQuery } from '@tanstack/react-query'
import { BookmarkPlus, X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { currentOrganizationQuery } from '../../api/queries.ts'
import type { RunListSearch } from '../../search-params.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { notify } from '../../ui/toast.ts'
import { type RunView, readViews, sameSearch, writeViews } from './run-views.ts'
import { ViewLink } from './view-link.tsx'

type Props = { search: RunListSearch; can_save: boolean }

/** The person's own views, and the form that saves the current filters as one. */
export default function SavedViews(props: Props) {
  const organization = useQuery(currentOrganizationQuery).data
  return organization === undefined ? null : (
    <ViewsOf key={organization} organization={organization} {...props} />
  )
}

function ViewsOf({ organization, search, can_save }: Props & { organization: number }) {
  const [views, setViews] = useState(() => readViews(organization))
  const change = (next: RunView[]) => {
    if (writeViews(organization, next)) setViews(next)
    else notify('This browser does not keep views', 'bad')
  }
  const saved = views.some(view => sameSearch(view.search, search))
  const isCurrent = (view: RunView) => sameSearch(view.search, search)
  return (
    <>
      {views.map(view => (
        <li key={view.name} className="flex shrink-0 items-center">
          <ViewLink view={view} current={isCurrent(view)} />
          {isCurrent(view) && (
            <IconButton
              label={`Remove the view ${visible(view.name)}`}
              onClick={() => change(views.filter(({ name }) => name !== view.name))}
            >
              <X className="size-3.5" />
            </IconButton>
          )}
        </li>
      ))}
      {can_save && !saved && (
        <li className="shrink-0">
          <SaveView
            on_save={name => change([...views.filter(view => view.name !== name), { name, search }])}
          />
        </li>
      )}
    </>
  )
}

function SaveView({ on_save }: { on_save: (name: string) => void }) {
  const [name, setName] = useState<string | null>(null)
  if (name === null) {
    return (
      <Button variant="quiet" onClick={() => setName('')}>
        <BookmarkPlus aria-hidden className="size-4" /> Save view
      </Button>
    )
  }
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '') return
    on_save(name.trim())
    setName(null)
  }
  return (
    <form className="flex items-center gap-1" aria-label="Save view" onSubmit={save}>
      <Input
        aria-label="Name of the view"
        placeholder="Name"
        className="h-7! w-36!"
        maxLength={40}
        autoFocus
        value={name}
        onChange={event => setName(event.target.value)}
        onKeyDown={event => event.key === 'Escape' && setName(null)}
      />
      <Button type="submit" reason={name.trim() === '' ? 'Enter a name first' : null}>
        Save
      </Button>
    </form>
  )
}
