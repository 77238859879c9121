import { Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { LogHit } from '../../../../../src/contract/runs/log-search.ts'
import { withoutAnsi } from '../../../text/ansi.ts'
import { clock } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { messageLabels } from '../../../trace/entry-summary.ts'
import { type LogSearch, rankOf } from '../../../trace/search/log-search.ts'
import { toolLabel } from '../../../trace/tool-label.ts'
import { useMedia } from '../../../ui/media.ts'

const ROW_PX = 52
/**
 * Characters before a match, so that the match is visible in a row that is cut at its end; on a phone and
 * elsewhere.
 */
const BEFORE_CHARS = { narrow: 16, wide: 48 }

type Props = {
  search: LogSearch
  /** The entry that was shown last. Its row is the first one that is focused. */
  near: number
}

/** The matches of a search, one row each, which leads to the entry in its context. */
export default function HitList({ search, near }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(() => Math.max(0, rankOf(search.seqs, near) - 1))
  const virtualizer = useVirtualizer({
    count: search.seqs.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
    initialOffset: active * ROW_PX,
    // The active row keeps the focus when it is scrolled away.
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) => {
      const [first, last] = [Math.max(0, startIndex - overscan), Math.min(count - 1, endIndex + overscan)]
      const rows = Array.from({ length: last - first + 1 }, (_, offset) => first + offset)
      return active < count && !rows.includes(active) ? [...rows, active].sort((a, b) => a - b) : rows
    },
  })
  const before_chars = useMedia('(max-width: 40rem)') ? BEFORE_CHARS.narrow : BEFORE_CHARS.wide
  const items = virtualizer.getVirtualItems()
  useEffect(() => {
    const [first, last] = [items[0], items.at(-1)]
    if (first && last) search.want(first.index, last.index)
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const to = {
      ArrowDown: active + 1,
      j: active + 1,
      ArrowUp: active - 1,
      k: active - 1,
      Home: 0,
      End: search.seqs.length - 1,
    }[event.key]
    if (
      to === undefined ||
      to < 0 ||
      to >= search.seqs.length ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return
    event.preventDefault()
    setActive(to)
    virtualizer.scrollToIndex(to)
    requestAnimationFrame(() =>
      box.current?.querySelector<HTMLElement>(`[data-hit="${to}"]`)?.focus({ preventScroll: true }),
    )
  }
  return (
    <div
      ref={box}
      role="list"
      aria-label="Matches"
      onKeyDown={onKeyDown}
      className="h-full overflow-y-auto overflow-x-hidden"
    >
      <div role="presentation" style={{ height: virtualizer.getTotalSize() }} className="relative w-full">
        {items.map(({ index, start, key }) => (
          <div
            key={key}
            role="listitem"
            aria-posinset={index + 1}
            aria-setsize={search.seqs.length}
            className="absolute top-0 left-0 w-full border-line/60 border-b"
            style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
          >
            <HitRow
              index={index}
              before_chars={before_chars}
              seq={search.seqs[index] ?? 0}
              hit={search.hit(index)}
              active={index === active}
              on_focus={setActive}
            />
          </div>
        ))}
      </div>
    </div>
  )
}

type RowProps = {
  index: number
  before_chars: number
  seq: number
  hit: LogHit | undefined
  active: boolean
  on_focus: (index: number) => void
}

function HitRow({ index, before_chars, seq, hit, active, on_focus }: RowProps) {
  return (
    <Link
      to="."
      search={previous => previous}
      hash={`e${seq}`}
      data-hit={index}
      tabIndex={active ? 0 : -1}
      onFocus={() => on_focus(index)}
      className={`group/hit flex h-full flex-col justify-center gap-0.5 px-3 outline-offset-[-2px] hover:bg-hover ${active ? 'bg-accent/6' : ''}`}
    >
      <span className="flex items-center gap-2 text-xs">
        <span className="shrink-0 font-medium">{hit ? visible(nameOf(hit)) : '…'}</span>
        <span className="min-w-0 truncate text-2xs text-faint">
          {hit && visible(hit.field.replace(/^(tool_input|tool_output|observation)\./, ''))}
        </span>
        <span className="ml-auto shrink-0 text-2xs text-accent opacity-0 group-hover/hit:opacity-100 group-focus-visible/hit:opacity-100">
          Show in context
        </span>
        <span className="tabular shrink-0 text-2xs text-faint">{hit && clock(hit.created_at)}</span>
        <span className="tabular min-w-6 shrink-0 text-right text-2xs text-faint">{seq}</span>
      </span>
      <span className="truncate font-mono text-muted text-xs">
        {hit && <Snippet hit={hit} before_chars={before_chars} />}
      </span>
    </Link>
  )
}

const nameOf = ({ tool_name, message_type }: LogHit) =>
  tool_name === null ? messageLabels[message_type] : toolLabel(tool_name, false)

function Snippet({
  hit: { snippet, match_start, match_length },
  before_chars,
}: {
  hit: LogHit
  before_chars: number
}) {
  const before = oneLine(snippet.slice(0, match_start))
  return (
    <>
      {before.length > before_chars ? `…${before.slice(-before_chars)}` : before}
      <mark className="rounded-xs bg-warn/30 text-ink">
        {oneLine(snippet.slice(match_start, match_start + match_length))}
      </mark>
      {oneLine(snippet.slice(match_start + match_length))}
    </>
  )
}

const oneLine = (text: string) => visible(withoutAnsi(text).replace(/\s+/g, ' '))
