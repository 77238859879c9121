import { useNavigate } from '@tanstack/react-router'
import { Tabs } from 'radix-ui'
import { lazy, type ReactNode, Suspense } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { type TraceView, trace_views } from '../../search-params.ts'
import type { LiveTool } from '../../trace/live-work.ts'
import { Loading } from '../../ui/notice.tsx'
import { useSingleKeys } from '../../ui/single-keys.ts'
import { NotLoaded } from '../not-loaded.tsx'
import { AnswerPane } from './answer-pane.tsx'

const notLoaded = () => ({ default: NotLoaded })
const ChangesPane = lazy(() => import('./changes/changes-pane.tsx').catch(notLoaded))
const FilesPane = lazy(() => import('./files/files-pane.tsx').catch(notLoaded))
const ConfigPane = lazy(() => import('../runs/config-pane.tsx').catch(notLoaded))

const nameOf = (tab: TraceView) => tab[0]?.toUpperCase() + tab.slice(1)

type Props = {
  run: AgentRun
  /** The tools that are running. */
  tools: LiveTool[]
  view: TraceView
  /** The log, when it is one of the tabs; null when it is shown beside them. */
  log: ReactNode | null
}

/**
 * Answer, change, files and configuration of a run, and on narrow screens its log. The tab is in the address.
 */
export function SidePane({ run, tools, view, log }: Props) {
  const navigate = useNavigate({ from: '/agent/trace/$id' })
  const views = log ? trace_views : trace_views.slice(1)
  const choose = (tab: TraceView | undefined) =>
    navigate({ search: previous => ({ ...previous, view: tab }), hash: true, replace: true })
  useSingleKeys(key => {
    const tab = views[Number(key) - 1]
    return tab && (() => void choose(tab))
  })
  const files = run.github_pull_requests.at(-1)?.files_changed
  return (
    <Tabs.Root
      value={view}
      // A tab that gets the focus back from the confirmation of unsaved changes is not chosen again.
      activationMode="manual"
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
            {nameOf(tab)}
            {tab === 'changes' && files !== undefined && (
              <span className="tabular ml-1.5 text-2xs text-faint">{files}</span>
            )}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {log && (
        <Tabs.Content value="log" className="flex min-h-0 flex-1 flex-col outline-none">
          {log}
        </Tabs.Content>
      )}
      <Pane tab="answer">
        <AnswerPane run={run} tools={tools} />
      </Pane>
      <Pane tab="changes">
        <ChangesPane run={run} />
      </Pane>
      <Pane tab="files">
        <FilesPane run={run} />
      </Pane>
      <Pane tab="config">
        <ConfigPane run={run} />
      </Pane>
    </Tabs.Root>
  )
}

const Pane = ({ tab, children }: { tab: TraceView; children: ReactNode }) => (
  <Tabs.Content value={tab} className="relative min-h-0 flex-1 overflow-y-auto">
    <h2 className="sr-only">{nameOf(tab)}</h2>
    <Suspense fallback={<Loading />}>{children}</Suspense>
  </Tabs.Content>
)
