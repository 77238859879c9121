import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ArrowLeftRight } from 'lucide-react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { runQuery } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { Button } from '../../ui/button.tsx'
import { Loading } from '../../ui/notice.tsx'
import { ComparedDiffs } from './compared-diffs.tsx'
import { ComparedFacts } from './compared-facts.tsx'
import { ComparedSteps } from './compared-steps.tsx'

/** Two runs side by side: configuration, cost, steps and changes. */
export function ComparePage() {
  const { a, b } = useSearch({ from: '/app/compare' })
  if (a === undefined || b === undefined) return <PageProblem error={null} what="comparison" />
  return <Compared key={`${a} ${b}`} a={a} b={b} />
}

function Compared({ a, b }: { a: number; b: number }) {
  const navigate = useNavigate({ from: '/compare' })
  const [first, second] = [useQuery(runQuery(a)), useQuery(runQuery(b))]
  const problem = first.isError ? first : second.isError ? second : null
  if (problem) return <PageProblem error={problem.error} retry={() => problem.refetch()} what="run" />
  if (!first.data || !second.data) return <Loading label="Loading the runs" />
  const runs: [AgentRun, AgentRun] = [first.data, second.data]
  return (
    <Page
      heading={`Run ${a} and run ${b}`}
      title={`Compare ${a} and ${b}`}
      actions={
        <Button onClick={() => navigate({ search: { a: b, b: a }, replace: true })}>
          <ArrowLeftRight aria-hidden className="size-3.5" /> Swap
        </Button>
      }
    >
      <div className="space-y-6">
        <ComparedFacts runs={runs} />
        <ComparedSteps runs={runs} />
        <ComparedDiffs runs={runs} />
      </div>
    </Page>
  )
}
