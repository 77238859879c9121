import { useNavigate } from '@tanstack/react-router'
import { Tabs } from 'radix-ui'
import { lazy, type ReactNode, Suspense } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import type { TraceView } from '../../search-params.ts'
import type { LiveTool } from '../../trace/live-work.ts'
import { Loading } from '../../ui/notice.tsx'
import { useSingleKeys } from '../../ui/single-keys.ts'
import { NotLoaded } from '../not-loaded.tsx'
import { AnswerPane } from './answer-pane.tsx'

const ChangesPane = lazy(() => import('./changes/changes-pane.tsx').catch(() => ({ default: NotLoaded })))
const ConfigPane = lazy(() => import('../runs/config-pane.tsx').catch(() => ({ default: NotLoaded })))

const names: Record<TraceView, string> = { log: 'Log', answer: 'Answer', changes: 'Changes', config: 'Config' }

type Props = {
  run: AgentRun
  /** The tools that are running. */
  tools: LiveTool[]
  view: TraceView
  /** The log, when it is one of the tabs; null when it is shown beside them. */
  log: ReactNode | null
}

/** Answer, change and configuration of a run, and on narrow screens its log. The tab is in the address. */
export function SidePane({ run, tools, view, log }: Props) {
  const navigate = useNavigate({ from: '/agent/trace/$id' })
  const views: TraceView[] = log ? ['log', 'answer', 'changes', 'config'] : ['answer', 'changes', 'config']
  const choose = (tab: TraceView | undefined) => navigate({ search: previous => ({ ...previous, view: tab }), hash: true, replace: true })
  useSingleKeys(key => {
    const tab = views[Number(key) - 1]
    return tab && (() => void choose(tab))
  })
  const files = run.github_pull_requests.at(-1)?.files_changed
  return (
    <Tabs.Root
      value={view}
      onValueChange={value => choose(views.find(tab => tab === value))}
      className="flex min-h-0 min-w-0 flex-1 flex-col"
    >
      <Tabs.List
        aria-label="Views"
        className="flex shrink-0 gap-4 border-line border-b bg-surface px-4 max-lg:order-last max-lg:justify-around max-lg:border-t max-lg:border-b-0"
      >
        {views.map((tab, index) => (
          <Tabs.Trigger
            key={tab}
            value={tab}
            aria-keyshortcuts={String(index + 1)}
            className="-mb-px min-h-9.5 border-transparent border-b-2 px-0.5 font-medium text-muted text-sm hover:text-ink data-[state=active]:border-ink data-[state=active]:text-ink max-lg:mt-[-1px] max-lg:mb-0 max-lg:min-h-11 max-lg:border-t-2 max-lg:border-b-0"
          >
            {names[tab]}
            {tab === 'changes' && files !== undefined && <span className="tabular ml-1.5 text-2xs text-faint">{files}</span>}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {log && (
        <Tabs.Content value="log" className="flex min-h-0 flex-1 flex-col outline-none">
          {log}
        </Tabs.Content>
      )}
      <Tabs.Content value="answer" className="min-h-0 flex-1 overflow-y-auto">
        <h2 className="sr-only">{names.answer}</h2>
        <AnswerPane run={run} tools={tools} />
      </Tabs.Content>
      <Tabs.Content value="changes" className="min-h-0 flex-1 overflow-y-auto">
        <h2 className="sr-only">{names.changes}</h2>
        <Suspense fallback={<Loading />}>
          <ChangesPane run={run} />
        </Suspense>
      </Tabs.Content>
      <Tabs.Content value="config" className="min-h-0 flex-1 overflow-y-auto">
        <h2 className="sr-only">{names.config}</h2>
        <Suspense fallback={<Loading />}>
          <ConfigPane run={run} />
        </Suspense>
      </Tabs.Content>
    </Tabs.Root>
  )
}
