import { ChevronRight } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { RunTimeline, TimelineTurn } from '../../../../../src/contract/runs/timeline.ts'
import { duration, money, plural } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import type { LogPages } from '../../../trace/log-pages.ts'
import type { FeedView, FeedViewStore } from '../../../trace/timeline/feed-view.ts'
import { OutlineSteps } from './outline-steps.tsx'

type Props = {
  timeline: RunTimeline
  pages: LogPages
  view: FeedViewStore
  on_jump: (index: number) => void
}

type Section = TimelineTurn['sections'][number]

/**
 * Turns, the items of the plan in each, and their steps, with duration, cost and failures. The step that the
 * feed shows stays visible.
 */
export default function Outline({ timeline, pages, view, on_jump }: Props) {
  const seq = seqOf(useSyncExternalStore(view.subscribe, view.get), pages.total)
  const box = useRef<HTMLElement>(null)
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map())
  const branch = (key: string, span: Section | TimelineTurn) => {
    const here = span.from_seq <= seq && seq <= span.through_seq
    const open = chosen.get(key) ?? here
    return { span, here, open, on_toggle: () => setChosen(old => new Map(old).set(key, !open)), on_jump }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown decides where the current step is
  useEffect(() => {
    const here = [...(box.current?.querySelectorAll('[aria-current]') ?? [])].at(-1)
    if (here instanceof HTMLElement && box.current) keepVisible(here, box.current)
  }, [seq, timeline, chosen])
  return (
    <nav ref={box} aria-label="Outline" className="h-full overflow-y-auto overflow-x-hidden py-1.5 text-xs">
      <ul>
        {timeline.turns.map(turn => (
          <Branch key={turn.turn} title={`Turn ${turn.turn}`} level={0} {...branch(`${turn.turn}`, turn)}>
            {turn.sections.map((section, index) => {
              const key = `${turn.turn} ${section.from_seq}`
              const title = section.title ?? (index === 0 ? 'Before the plan' : 'Between the items')
              // A turn without a plan has no items: its steps follow directly.
              if (turn.sections.length === 1 && section.title === null)
                return (
                  <OutlineSteps
                    key={key}
                    timeline={timeline}
                    pages={pages}
                    span={section}
                    seq={seq}
                    on_jump={on_jump}
                  />
                )
              return (
                <Branch key={key} title={title} level={1} {...branch(key, section)}>
                  <OutlineSteps
                    timeline={timeline}
                    pages={pages}
                    span={section}
                    seq={seq}
                    on_jump={on_jump}
                  />
                </Branch>
              )
            })}
          </Branch>
        ))}
      </ul>
    </nav>
  )
}

/**
 * The entry that the feed shows: the selected one while it is visible, the last one at the end, otherwise the
 * first visible one.
 */
function seqOf({ first, last, current }: FeedView, total: number): number {
  if (current !== null && current >= first && current <= last) return current + 1
  return last >= total - 1 ? total : first + 1
}

type BranchProps = {
  title: string
  level: 0 | 1
  span: Section | TimelineTurn
  here: boolean
  open: boolean
  on_toggle: () => void
  on_jump: (index: number) => void
  children: ReactNode
}

/**
 * A turn or an item of the plan: a button that opens it, a button that shows its first entry, and its
 * metrics.
 */
function Branch({ title, level, span, here, open, on_toggle, on_jump, children }: BranchProps) {
  const name = visible(title)
  return (
    <li>
      <div
        className={`flex items-start gap-0.5 pr-2 hover:bg-hover ${level === 0 ? 'pl-1 font-medium' : 'pl-3'}`}
      >
        <button
          type="button"
          aria-expanded={open}
          aria-label={`${open ? 'Close' : 'Open'} ${name}`}
          className="grid size-6 shrink-0 place-items-center text-faint"
          onClick={on_toggle}
        >
          <ChevronRight aria-hidden className={`size-3.5 transition-transform ${open ? 'rotate-90' : ''}`} />
        </button>
        <button
          type="button"
          aria-current={here || undefined}
          onClick={() => on_jump(span.from_seq - 1)}
          className={`min-w-0 flex-1 py-0.5 text-left ${here ? 'text-accent' : ''}`}
        >
          <span className="line-clamp-2 [overflow-wrap:anywhere]">{name}</span>
          <span className="tabular flex flex-wrap gap-x-2 font-normal text-2xs text-faint">
            <span>{duration(Date.parse(span.ended_at) - Date.parse(span.started_at))}</span>
            {span.cost_usd !== null && Number(span.cost_usd) > 0 && <span>{money(span.cost_usd)}</span>}
            <span>{plural(span.through_seq - span.from_seq + 1, 'entry', 'entries')}</span>
            {span.failed > 0 && <span className="text-bad">{span.failed.toLocaleString('en')} failed</span>}
          </span>
        </button>
      </div>
      {open && <ul>{children}</ul>}
    </li>
  )
}

/** Scrolls a box so much that an element in it is shown, and nothing around the box. */
function keepVisible(element: HTMLElement, box: HTMLElement): void {
  const [inner, outer] = [element.getBoundingClientRect(), box.getBoundingClientRect()]
  if (inner.top < outer.top) box.scrollTop += inner.top - outer.top - outer.height / 3
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + outer.height / 3
}
