import { useQuery } from '@tanstack/react-query'
import { Link, useMatches, useParams } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { type ComponentType, Fragment } from 'react'
import { pullRequestPageQuery, repositoriesQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { useRunListLink } from './kept-run-list.ts'

/** A text, which links to the page of its route, or a component that renders its own text and link. */
type Crumb = string | ComponentType<{ current: boolean }>

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** What the route adds to the breadcrumbs. */
    crumbs?: Crumb[]
  }
}

const link_style = 'rounded-sm text-muted hover:text-ink'

/** The path from the navigation to the current page, from the `crumbs` of the matching routes. */
export function Breadcrumbs() {
  const crumbs = useMatches({
    select: matches =>
      matches.flatMap(({ id, pathname, staticData }) =>
        (staticData.crumbs ?? []).map((crumb, index) => ({ key: `${id} ${index}`, pathname, crumb })),
      ),
  })
  return (
    <nav aria-label="Breadcrumbs" className="min-w-0 flex-1">
      <ol className="flex min-w-0 items-center gap-1 text-sm">
        {crumbs.map(({ key, pathname, crumb: Crumb }, index) => {
          const current = index === crumbs.length - 1
          return (
            <Fragment key={key}>
              {index > 0 && (
                <li aria-hidden className="shrink-0 text-faint">
                  <ChevronRight className="size-3.5" />
                </li>
              )}
              <li
                aria-current={current ? 'page' : undefined}
                className={`min-w-0 truncate ${current ? 'font-medium text-ink' : index === 0 ? 'shrink-0' : 'shrink-[99]'}`}
              >
                {typeof Crumb !== 'string' ? (
                  <Crumb current={current} />
                ) : current ? (
                  Crumb
                ) : (
                  <Link to={pathname as '/'} className={link_style}>
                    {Crumb}
                  </Link>
                )}
              </li>
            </Fragment>
          )
        })}
      </ol>
    </nav>
  )
}

/** The run list as the person left it. */
export function RunsCrumb() {
  const { search, onClick } = useRunListLink()
  return (
    <Link to="/" search={search} onClick={onClick} className={link_style}>
      Runs
    </Link>
  )
}

export function RunCrumb() {
  const { id = '' } = useParams({ strict: false })
  return <span className="tabular">#{visible(id)}</span>
}

export function SandboxCrumb() {
  const { sandboxId = '' } = useParams({ strict: false })
  return <span className="tabular">#{visible(sandboxId)}</span>
}

/** The number on its forge, once it is loaded. */
export function PullRequestCrumb({ current }: { current: boolean }) {
  const { prId = '' } = useParams({ strict: false })
  const { data } = useQuery({ ...pullRequestPageQuery(Number(prId)), enabled: false })
  const name = <bdi className="tabular">{data ? `#${data.number}` : '…'}</bdi>
  if (current) return name
  return (
    <Link to="/pull-requests/$prId" params={{ prId }} className={link_style}>
      {name}
    </Link>
  )
}

export function RepositoryCrumb({ current }: { current: boolean }) {
  const { repoId = '' } = useParams({ strict: false })
  const repository = useQuery(repositoriesQuery).data?.find(({ id }) => String(id) === repoId)
  const name = repository ? visible(repository.full_name) : `#${visible(repoId)}`
  if (current) return <>{name}</>
  return (
    <Link to="/repositories/$repoId" params={{ repoId }} className={link_style}>
      {name}
    </Link>
  )
}
