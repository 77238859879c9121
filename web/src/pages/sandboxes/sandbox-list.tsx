import { useInfiniteQuery } from '@tanstack/react-query'
import { Box } from 'lucide-react'
import { sandboxesQuery } from '../api/queries.ts'
import { Page } from '../components/page.tsx'
import { PageProblem } from '../components/page-problem.tsx'
import { SandboxRow, SandboxRowHead } from '../components/runs/sandbox-row.tsx'
import { plural } from '../text/format.ts'
import { Button } from '../ui/button.tsx'
import { Blank, Loading } from '../ui/notice.tsx'
import { useNow } from '../ui/now.ts'
import { StatusLine } from '../ui/status-line.tsx'

/** Sandboxes of all runs, with their resource usage. */
export function SandboxesPage() {
  const sandboxes = useInfiniteQuery(sandboxesQuery)
  const items = sandboxes.data?.pages.flatMap(page => page.items) ?? []
  const total = sandboxes.data?.pages[0]?.total ?? 0
  const now = useNow(true, items.some(({ ended_at }) => ended_at === null) ? 1000 : 15_000)
  return (
    <Page heading="Sandboxes" note={sandboxes.isSuccess ? total.toLocaleString('en') : undefined}>
      <StatusLine message={sandboxes.isSuccess ? plural(total, 'sandbox', 'sandboxes') : ''} />
      <div className="mt-3 rounded-lg border border-line bg-surface">
        {sandboxes.isPending && <Loading label="Loading sandboxes" />}
        {sandboxes.isError && <PageProblem error={sandboxes.error} retry={() => sandboxes.refetch()} what="list" />}
        {sandboxes.isSuccess && items.length === 0 && (
          <Blank icon={<Box />} title="No sandboxes yet">
            Each run executes in a sandbox. Its resource usage is kept as long as the run.
          </Blank>
        )}
        {items.length > 0 && <SandboxRowHead />}
        {items.length > 0 && (
          <ul aria-label="Sandboxes, newest first" aria-busy={sandboxes.isFetching}>
            {items.map(sandbox => (
              <SandboxRow key={sandbox.id} sandbox={sandbox} now={now} />
            ))}
          </ul>
        )}
      </div>
      {sandboxes.hasNextPage && (
        <div className="mt-3 flex justify-center">
          <Button busy={sandboxes.isFetchingNextPage} onClick={() => sandboxes.fetchNextPage()}>
            Load older sandboxes
          </Button>
        </div>
      )}
    </Page>
  )
}
