import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useParams } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { repositoryQuery } from '../../api/queries.ts'
import { NewRunLink } from '../../components/new-run-link.tsx'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { visible } from '../../text/visible.ts'
import { buttonStyle } from '../../ui/button.tsx'
import { Loading } from '../../ui/notice.tsx'
import { SectionTabs } from '../../ui/section-nav.tsx'
import { repositoryTabs } from './repository-tabs.ts'

/** One repository: its heading and tabs. Each tab is a page of its own with an address. */
export function RepositoryPage() {
  const { repoId } = useParams({ from: '/app/repositories/$repoId' })
  const id = /^\d{1,15}$/.test(repoId) ? Number(repoId) : null
  const repository = useQuery({ ...repositoryQuery(id ?? 0), enabled: id !== null })
  if (id === null) return <PageProblem error={null} what="repository" />
  if (repository.isError)
    return <PageProblem error={repository.error} retry={() => repository.refetch()} what="repository" />
  if (!repository.data) return <Loading label="Loading the repository" />
  const { full_name, url, archived } = repository.data
  return (
    <Page
      key={id}
      heading={full_name}
      title={null}
      about={<span className="font-mono text-faint text-xs [overflow-wrap:anywhere]">{visible(url)}</span>}
      actions={
        <>
          <Link to="/" search={{ repo: id }} className={buttonStyle()}>
            Runs
          </Link>
          {!archived && (
            <NewRunLink search={{ repo: id }}>
              <Plus aria-hidden className="size-4" /> New run here
            </NewRunLink>
          )}
        </>
      }
    >
      <SectionTabs label="Repository" items={repositoryTabs(repoId)} />
      <Outlet />
    </Page>
  )
}
