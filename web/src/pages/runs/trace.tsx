import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { runQuery } from '../../api/queries.ts'
import { PageProblem } from '../../components/page-problem.tsx'
import { RunHeader } from '../../components/runs/header/run-header.tsx'
import { statusDetail } from '../../components/runs/status-pill.tsx'
import { SidePane } from '../../components/trace/side-pane.tsx'
import { TraceLog } from '../../components/trace/trace-log.tsx'
import type { FeedHandle } from '../../components/trace/use-feed-handle.ts'
import { useTrace } from '../../components/trace/use-trace.ts'
import { plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { useMedia } from '../../ui/media.ts'
import { Loading } from '../../ui/notice.tsx'
import { StatusLine } from '../../ui/status-line.tsx'

export function TracePage() {
  const { id } = useParams({ from: '/app/agent/trace/$id' })
  const number = /^\d{1,15}$/.test(id) ? Number(id) : null
  const run = useQuery({ ...runQuery(number ?? 0), enabled: number !== null, staleTime: 0 })
  if (number === null) return <PageProblem error={null} what="run" />
  if (run.data) return <TraceOfRun key={number} run={run.data} />
  if (run.isError) return <PageProblem error={run.error} retry={() => run.refetch()} what="run" />
  return <Loading label="Loading the run" />
}

function TraceOfRun({ run }: { run: AgentRun }) {
  const search = useSearch({ from: '/app/agent/trace/$id' })
  const trace = useTrace(run)
  const feed = useRef<FeedHandle>(null)
  const wide = useMedia('(min-width: 72rem)')
  const view = search.view ?? (wide ? 'answer' : 'log')
  if (!trace) return <Loading label="Loading the trace" />

  const link = () => {
    const seq = feed.current?.current_seq()
    return seq ? `${run.web_url}#e${seq}` : run.web_url
  }
  const log = <TraceLog run={run} trace={trace} feed={feed} />
  return (
    <div className="flex h-full flex-col">
      <title>{`${visible(run.title)} · ${run.status}`}</title>
      <StatusLine
        message={`${run.status} ${statusDetail(run) ?? ''}. ${plural(trace.pages.total, 'entry', 'entries')}.`}
      />
      <RunHeader run={run} stream={trace.stream} link={link} />
      <div className="group/trace flex min-h-0 flex-1">
        {wide && log}
        {/* Beside an open outline the pane is narrower, so that the entries keep their width. */}
        <div
          className={
            wide
              ? 'flex min-w-0 basis-[44%] border-line border-l group-has-data-outline/trace:basis-[34%]'
              : 'flex min-w-0 flex-1'
          }
        >
          <SidePane
            run={run}
            tools={trace.work.tools}
            view={wide && view === 'log' ? 'answer' : view}
            log={wide ? null : log}
          />
        </div>
      </div>
    </div>
  )
}
