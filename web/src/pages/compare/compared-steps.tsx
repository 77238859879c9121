import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { PageProblem } from '../../components/page-problem.tsx'
import { duration, plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { isServiceTool } from '../../trace/tool-kind.ts'
import { toolLabel } from '../../trace/tool-label.ts'
import { Button } from '../../ui/button.tsx'
import { Loading } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import {
  alignSteps,
  callsPerTool,
  firstDivergence,
  isSame,
  type Step,
  type StepPair,
  stepsOf,
} from './align-steps.ts'
import { MAX_STEPS, stepsQuery } from './compare-queries.ts'

/** Equal steps before the first divergence that are shown. */
const CONTEXT = 3

/** The steps of both runs side by side, and how often each tool was called. */
export function ComparedSteps({ runs: [a, b] }: { runs: [AgentRun, AgentRun] }) {
  const [first, second] = [
    useQuery(stepsQuery(a.id, `${a.total_logs}`)),
    useQuery(stepsQuery(b.id, `${b.total_logs}`)),
  ]
  const problem = first.isError ? first : second.isError ? second : null
  const steps = useMemo(
    () => [stepsOf(first.data ?? []), stepsOf(second.data ?? [])] as const,
    [first.data, second.data],
  )
  if (problem) return <PageProblem error={problem.error} retry={() => problem.refetch()} what="trace" />
  if (!first.data || !second.data) return <Loading label="Loading the steps" />
  return (
    <>
      <section>
        <h2 className="mb-2 font-semibold">Calls of each tool</h2>
        <Table
          label="Calls of each tool"
          rows={callsPerTool(...steps).filter(({ tool }) => !isServiceTool(tool))}
          row_key={row => row.tool}
          columns={[
            { name: 'Tool', cell: ({ tool }) => visible(toolLabel(tool, false)), main: true },
            { name: `Run ${a.id}`, cell: row => row.a, align: 'end' },
            { name: a.id === b.id ? 'Again' : `Run ${b.id}`, cell: row => row.b, align: 'end' },
            { name: 'Difference', cell: row => signed(row.b - row.a), align: 'end' },
          ]}
        />
      </section>
      <Alignment a={a} b={b} pairs={alignSteps(...steps)} />
      {steps.some(({ length }) => length >= MAX_STEPS) && (
        <p className="text-faint text-xs">
          Only the first {MAX_STEPS.toLocaleString('en')} steps of each run are compared.
        </p>
      )}
    </>
  )
}

const signed = (value: number) => (value === 0 ? '' : value > 0 ? `+${value}` : `−${-value}`)

function Alignment({ a, b, pairs }: { a: AgentRun; b: AgentRun; pairs: StepPair[] }) {
  const [all, setAll] = useState(false)
  const divergence = firstDivergence(pairs)
  const from = all ? 0 : Math.max(0, (divergence === -1 ? pairs.length : divergence) - CONTEXT)
  return (
    <section aria-label="Steps">
      <div className="mb-2 flex flex-wrap items-center gap-x-3">
        <h2 className="font-semibold">Steps</h2>
        <p className="text-muted text-xs" data-testid="divergence">
          {divergence === -1
            ? 'Both runs made the same steps.'
            : `The first difference is at step ${divergence + 1} of ${pairs.length}.`}
        </p>
      </div>
      <div className="overflow-hidden rounded-lg border border-line bg-surface text-xs">
        {from > 0 && (
          <Button variant="quiet" className="m-1" onClick={() => setAll(true)}>
            Show {plural(from, 'equal step')} before
          </Button>
        )}
        <ol>
          {pairs.slice(from).map((pair, index) => (
            <li
              key={`${pair.a?.seq} ${pair.b?.seq}`}
              className={`grid grid-cols-2 border-line/60 border-t first:border-t-0 ${isSame(pair) ? '' : 'bg-warn/8'} ${from + index === divergence ? 'border-t-2! border-warn!' : ''}`}
            >
              <StepCell run={a.id} step={pair.a} />
              <div className="border-line border-l">
                <StepCell run={b.id} step={pair.b} />
              </div>
            </li>
          ))}
        </ol>
      </div>
    </section>
  )
}

function StepCell({ run, step }: { run: number; step: Step | null }) {
  if (step === null) return <div className="px-3 py-1 text-faint">–</div>
  return (
    <div className="flex min-h-7 min-w-0 items-center gap-2 px-3 py-0.5">
      <Link
        to="/agent/trace/$id"
        params={{ id: String(run) }}
        hash={`e${step.seq}`}
        className={`inline-flex min-h-6 shrink-0 items-center font-medium hover:underline ${step.failed ? 'text-bad' : ''}`}
      >
        {visible(step.label)}
      </Link>
      <span className="min-w-0 flex-1 truncate font-mono text-muted" title={step.line}>
        {step.line}
      </span>
      {step.failed && <span className="shrink-0 text-bad">failed</span>}
      {step.duration_ms !== null && step.duration_ms >= 100 && (
        <span className="tabular shrink-0 text-faint max-md:hidden">{duration(step.duration_ms)}</span>
      )}
    </div>
  )
}
