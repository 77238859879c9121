import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { FolderGit2 } from 'lucide-react'
import type { Result } from '../../../../src/contract/calls.ts'
import { repositoriesQuery } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Blank, Loading } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { AddRepository } from './add-repository.tsx'

type Repository = Result<'listRepositories'>['items'][number]

const columns: Column<Repository>[] = [
  {
    name: 'Repository',
    main: true,
    cell: ({ id, full_name, is_default, sample, archived }) => (
      <span className="flex items-center gap-2">
        <Link
          to="/repositories/$repoId"
          params={{ repoId: String(id) }}
          className="font-medium after:absolute after:inset-0"
        >
          {visible(full_name)}
        </Link>
        {is_default && <Badge>Default</Badge>}
        {sample && <Badge>Sample</Badge>}
        {archived && <Badge tone="warn">Archived</Badge>}
      </span>
    ),
  },
  {
    name: 'Cloned from',
    wide_only: true,
    cell: ({ url }) => (
      <span className="block max-w-md truncate font-mono text-faint text-xs">{visible(url)}</span>
    ),
  },
  {
    name: 'Default branch',
    wide_only: true,
    cell: ({ default_branch }) =>
      default_branch === null ? (
        <span className="text-faint">not fetched yet</span>
      ) : (
        <code className="font-mono text-xs">{visible(default_branch)}</code>
      ),
  },
  {
    name: 'Setup',
    cell: ({ setup_status }) =>
      setup_status === 'SETUP' ? 'Configured' : <span className="text-faint">None</span>,
  },
]

export function RepositoryListPage() {
  const repositories = useQuery(repositoriesQuery)
  if (repositories.isError)
    return <PageProblem error={repositories.error} retry={() => repositories.refetch()} what="list" />
  const { data } = repositories
  return (
    <Page heading="Repositories" note={data?.length} actions={<AddRepository />}>
      {!data && <Loading label="Loading the repositories" />}
      {data?.length === 0 && (
        <Blank icon={<FolderGit2 />} title="No repositories yet">
          A run works on a clone of a repository. Add one by its address; nothing is written to it but
          branches of runs.
        </Blank>
      )}
      {data && data.length > 0 && (
        <Table label="Repositories" columns={columns} rows={data} row_key={({ id }) => id} />
      )}
    </Page>
  )
}
