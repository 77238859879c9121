import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Lock } from 'lucide-react'
import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { type Connection, repositoriesQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, buttonStyle } from '../../ui/button.tsx'
import { FilterBox } from '../../ui/filter-box.tsx'
import { Loading, Notice } from '../../ui/notice.tsx'
import { forgeRepositoriesQuery } from './repository-queries.ts'

/** More than these are found by the filter. */
const SHOWN = 50

/** The repositories that a connection can see, with a button that adds one. */
export function ForgeRepositories({ connection }: { connection: Connection }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const found = useQuery(forgeRepositoriesQuery(connection))
  const [filter, setFilter] = useState('')
  const box = useRef<HTMLInputElement>(null)
  const add = useMutation({
    mutationFn: (url: string) => call('createRepository', { body: { url } }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: repositoriesQuery.queryKey })
      queries.removeQueries({ queryKey: forgeRepositoriesQuery(connection).queryKey })
      await navigate({ to: '/repositories/$repoId', params: { repoId: String(id) } })
    },
  })
  if (found.isPending) return <Loading label="Loading the repositories" />
  if (found.isError)
    return (
      <Notice tone="bad" action={<Button onClick={() => found.refetch()}>Try again</Button>}>
        {visible(found.error.message)}
      </Notice>
    )
  const matching = found.data.filter(({ full_name }) =>
    full_name.toLowerCase().includes(filter.toLowerCase()),
  )
  return (
    <div className="space-y-3">
      <FilterBox
        box={box}
        label="Filter repositories"
        placeholder="Filter by name"
        value={filter}
        on_text={text => setFilter(text ?? '')}
        className=""
      />
      {add.error && <Notice tone="bad">{visible(add.error.message)}</Notice>}
      {matching.length === 0 && (
        <p className="text-muted">
          {found.data.length === 0 ? 'The connection can see no repositories.' : 'No repository matches.'}
        </p>
      )}
      {matching.length > 0 && (
        <ul
          aria-label="Repositories of the forge"
          className="max-h-80 overflow-y-auto rounded-lg border border-line"
        >
          {matching.slice(0, SHOWN).map(({ full_name, url, private: hidden, archived, repo_id }) => (
            <li
              key={url}
              className="flex min-h-10 items-center gap-2 border-line border-b px-3 py-1 last:border-b-0"
            >
              <span className="min-w-0 flex-1 truncate">{visible(full_name)}</span>
              {hidden && <Lock aria-label="Private" className="size-3.5 shrink-0 text-faint" />}
              {archived && <Badge tone="warn">Archived</Badge>}
              {repo_id === null ? (
                <Button
                  aria-label={`Add ${full_name}`}
                  busy={add.isPending && add.variables === url}
                  onClick={() => add.mutate(url)}
                >
                  Add
                </Button>
              ) : (
                <Link
                  to="/repositories/$repoId"
                  params={{ repoId: String(repo_id) }}
                  className={buttonStyle('quiet')}
                >
                  Open
                </Link>
              )}
            </li>
          ))}
        </ul>
      )}
      {matching.length > SHOWN && (
        <p className="text-faint text-xs">{matching.length - SHOWN} more. Filter to find them.</p>
      )}
    </div>
  )
}
