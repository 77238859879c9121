import { queryOptions, useQuery } from '@tanstack/react-query'
import { FileDiff } from 'lucide-react'
import { useMemo } from 'react'
import { call } from '../../api/client.ts'
import { PageTitle } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useReadOnlyReason } from '../../components/permission.ts'
import { DiffFiles, fileAnchor } from '../../components/trace/changes/diff-files.tsx'
import { FileTree } from '../../components/trace/changes/file-tree.tsx'
import { fileTree } from '../../trace/changes/file-tree.ts'
import { Blank, Loading } from '../../ui/notice.tsx'
import { LineComment } from './line-comment.tsx'
import { usePullRequest } from './use-pull-request.ts'

/** `state`: what makes a different diff likely. */
const diffOfPullRequestQuery = (pr_id: number, state: string) =>
  queryOptions({
    queryKey: ['pull-request-diff', pr_id, state],
    queryFn: ({ signal }) => call('getPullRequestDiff', { params: { pr_id }, signal }),
    placeholderData: previous => previous,
  })

/** The change of a pull request: its files as a tree, and the diff of each. */
export function PullRequestChanges() {
  const pull_request = usePullRequest()
  const { id, title, number, head_sha, base_branch, state } = pull_request
  const forbidden = useReadOnlyReason()
  const diff = useQuery(diffOfPullRequestQuery(id, `${head_sha} ${base_branch} ${state}`))
  const nodes = useMemo(() => fileTree(diff.data?.files ?? []), [diff.data])
  if (diff.isError) return <PageProblem error={diff.error} retry={() => diff.refetch()} what="change" />
  return (
    <>
      <PageTitle>{`Changes · ${title} #${number}`}</PageTitle>
      <h2 className="sr-only">Changes</h2>
      {!diff.data && <Loading label="Loading the change" />}
      {diff.data?.files.length === 0 && (
        <Blank icon={<FileDiff />} title="No files changed">
          The head branch has no changes that the base branch does not have.
        </Blank>
      )}
      {diff.data && diff.data.files.length > 0 && (
        <div className="grid gap-4 lg:grid-cols-[15rem_minmax(0,1fr)]">
          <nav
            aria-label="Changed files"
            className="sticky top-3 max-h-[calc(100dvh-6rem)] self-start overflow-y-auto max-lg:hidden"
          >
            <FileTree
              nodes={nodes}
              on_file={index =>
                document.getElementById(fileAnchor(index))?.scrollIntoView({ block: 'start' })
              }
            />
          </nav>
          <DiffFiles
            diff={diff.data}
            comment_form={
              forbidden === null
                ? (target, on_close) => (
                    <LineComment pull_request={pull_request} target={target} on_close={on_close} />
                  )
                : undefined
            }
          />
        </div>
      )}
    </>
  )
}
