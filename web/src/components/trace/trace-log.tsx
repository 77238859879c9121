import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { ListX, Sprout } from 'lucide-react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import type { Trace } from '../../trace/open-trace.ts'
import { Button } from '../../ui/button.tsx'
import { Blank, Loading, Notice } from '../../ui/notice.tsx'
import KeyboardHelp from '../frame/keyboard-help.tsx'
import { FollowUp } from '../runs/follow-up.tsx'
import { Feed } from './feed.tsx'
import { FeedToolbar } from './feed-toolbar.tsx'
import type { FeedHandle } from './use-feed-handle.ts'
import { useFeedKeys } from './use-feed-keys.ts'
import { useEntries } from './use-trace.ts'

type Props = { run: AgentRun; trace: Trace; feed: RefObject<FeedHandle | null> }

const seqOf = (hash: string) => Number(/^e(\d{1,9})$/.exec(hash)?.[1] ?? 0)

/** Moves to the next or previous error of the whole trace. `notice`: for three seconds, that there is none. */
function useErrorJump(run: AgentRun, feed: Props['feed']) {
  const navigate = useNavigate({ from: '/agent/trace/$id' })
  const [notice, setNotice] = useState<string | null>(null)

  const toError = async (direction: 'next' | 'previous') => {
    const from = feed.current?.current_seq() ?? (direction === 'next' ? 0 : run.total_logs + 1)
    const query = direction === 'next' ? { after_seq: from } : { before_seq: from, reverse: true }
    const { logs } = await call('getAgentRunLogs', {
      params: { agent_run_id: run.id },
      query: { ...query, message_type: 'ERROR', limit: 1 },
    })
    const found = logs[0]
    setNotice(found ? null : direction === 'next' ? 'No error after this entry' : 'No error before this entry')
    if (found)
      await navigate({ search: previous => ({ ...previous, type: undefined, q: undefined }), hash: `e${found.seq}`, replace: true })
  }
  useEffect(() => {
    if (notice === null) return
    const timer = setTimeout(() => setNotice(null), 3000)
    return () => clearTimeout(timer)
  }, [notice])
  return { notice, toError }
}

/** Filter, entries and follow-up box of a run. */
export function TraceLog({ run, trace, feed }: Props) {
  const { type, q } = useSearch({ from: '/app/agent/trace/$id' })
  const seq = useLocation({ select: location => seqOf(location.hash) })
  const pages = useEntries(trace, { message_type: type, q })
  const filtered = pages !== trace.pages
  const filter_box = useRef<HTMLInputElement>(null)
  const [help, setHelp] = useState(false)
  const { notice, toError } = useErrorJump(run, feed)
  useFeedKeys({
    next: () => feed.current?.step(1),
    previous: () => feed.current?.step(-1),
    toggle: () => feed.current?.toggle(),
    follow: () => feed.current?.follow(),
    next_error: () => void toError('next'),
    previous_error: () => void toError('previous'),
    focus_filter: () => filter_box.current?.focus(),
  })

  return (
    <section aria-label="Log" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <FeedToolbar box={filter_box} total={pages.total} on_help={() => setHelp(true)} />
      {pages.problem !== null && (
        <div className="p-2">
          <Notice tone="bad" action={<Button onClick={() => pages.retry()}>Try again</Button>}>
            {visible(pages.problem instanceof Error ? pages.problem.message : String(pages.problem))}
          </Notice>
        </div>
      )}
      {notice && (
        <p role="status" className="border-line border-b bg-surface px-3 py-1 text-muted text-xs">
          {notice}
        </p>
      )}
      {filtered && pages.ready && pages.total === 0 && <Blank icon={<ListX />} title="No entry matches" />}
      {filtered && !pages.ready && pages.problem === null && <Loading label="Searching" />}
      {!filtered && pages.total === 0 && (
        <Blank icon={<Sprout />} title="The run has not started yet">
          Entries appear here as the agent works.
        </Blank>
      )}
      {(pages.total > 0 || trace.work.tools.length > 0) && (
        <Feed
          key={`${type ?? ''} ${q ?? ''}`}
          ref={feed}
          pages={pages}
          work={filtered ? null : trace.work}
          target={!filtered && seq > 0 && seq <= pages.total ? seq - 1 : null}
          begin={filtered ? 'start' : 'end'}
        />
      )}
      {!filtered && pages.total === 0 && <div className="flex-1" />}
      <FollowUp run={run} />
      <KeyboardHelp open={help} on_close={() => setHelp(false)} />
    </section>
  )
}
