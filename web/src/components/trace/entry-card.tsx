import { Link } from '@tanstack/react-router'
import { lazy, memo, Suspense } from 'react'
import type { LogEntry } from '../../../../src/contract/runs/logs.ts'
import { clock, duration, moment } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { entrySummary } from '../../trace/entry-summary.ts'
import { redactionNote } from '../../trace/redaction-note.ts'
import type { Tone } from '../../trace/summary-types.ts'
import { Clamped } from '../entries/clamped.tsx'
import { EntryBody } from '../entries/entry-body.tsx'
import { NotLoaded } from '../not-loaded.tsx'
import { PlainText } from '../plain-text.tsx'
import { EntryIcon } from './entry-icon.tsx'

const ForkEntry = lazy(() => import('./fork-entry.tsx').catch(() => ({ default: NotLoaded })))

const tones: Record<Tone, string> = {
  neutral: 'text-faint',
  ok: 'text-ok',
  bad: 'text-bad',
  warn: 'text-warn',
  accent: 'text-accent',
}
const thought_lines = 6
/** Their first line would only repeat their body. */
const self_explanatory = new Set([
  'FINAL_ANSWER',
  'USER_MESSAGE',
  'USER_GITHUB_ISSUE_COMMENT',
  'ERROR',
  'INITIAL_PR_GENERATION',
  'PR_CREATION_FAILED',
])

type Props = {
  entry: LogEntry
  /** Its index among the shown entries, from 0. */
  index: number
  size: number
  open: boolean
  /** Whether later steps follow: then a command that succeeded is one line. */
  passed: boolean
  current: boolean
  on_toggle: (index: number) => void
  on_select: (index: number) => void
}

/** One entry of the trace. */
export const EntryCard = memo(function EntryCard({
  entry,
  index,
  size,
  open,
  passed,
  current,
  on_toggle,
  on_select,
}: Props) {
  const { seq, thought, message_type } = entry
  const toggle = () => on_toggle(index)
  const redacted = redactionNote(entry.redactions)
  const thinks = thought && message_type !== 'PLAN_EVALUATION' ? thought : null
  return (
    <article
      id={`e${seq}`}
      tabIndex={-1}
      aria-posinset={index + 1}
      aria-setsize={size}
      aria-labelledby={`e${seq}-line`}
      aria-current={current || undefined}
      data-type={message_type}
      data-open={open || undefined}
      onFocus={event => event.target === event.currentTarget && on_select(index)}
      className={`group/entry px-3 py-1.5 outline-offset-[-2px] ${current ? 'bg-accent/6' : ''} ${message_type === 'USER_MESSAGE' ? 'my-1 border-accent border-l-2 bg-surface' : ''} ${message_type === 'FINAL_ANSWER' ? 'my-1 border-ok border-l-2 bg-surface' : ''}`}
    >
      {thinks && (
        <div className="mb-1 pl-6.5 text-muted">
          <Clamped text={thinks} lines={thought_lines} open={open} on_toggle={toggle}>
            {shown => <PlainText text={shown} />}
          </Clamped>
        </div>
      )}
      <div className="flex min-h-6 items-center gap-2.5">
        <EntryLine entry={entry} open={open} on_toggle={toggle} />
        <EntryPosition entry={entry} />
      </div>
      <div className="space-y-1.5 pl-6.5 empty:hidden">
        <EntryBody entry={entry} open={open} passed={passed} on_toggle={toggle} />
        {redacted && <p className="text-2xs text-faint">{visible(redacted)}</p>}
        {open && (
          <Suspense fallback={<div className="h-7" />}>
            <ForkEntry agent_run_id={entry.agent_run_id} seq={seq} />
          </Suspense>
        )}
      </div>
    </article>
  )
})

type LineProps = { entry: LogEntry; open: boolean; on_toggle: () => void }

/** The first line, which opens and closes the entry. */
function EntryLine({ entry, open, on_toggle }: LineProps) {
  const { seq, message_type } = entry
  const summary = entrySummary(entry)
  const mono = message_type === 'ACTION'
  return (
    <>
      <EntryIcon kind={summary.kind} className={tones[summary.tone]} />
      <button
        type="button"
        tabIndex={-1}
        onClick={on_toggle}
        aria-expanded={open}
        id={`e${seq}-line`}
        className="flex min-h-6 min-w-0 flex-1 items-center gap-2 text-left"
      >
        <span className={`shrink-0 font-medium ${summary.tone === 'bad' ? 'text-bad' : ''}`}>
          {visible(summary.label)}
        </span>
        {!self_explanatory.has(message_type) && summary.kind !== 'question' && (
          <span className={`min-w-0 truncate text-muted ${mono ? 'font-mono text-xs' : ''}`}>
            {summary.line}
          </span>
        )}
        {summary.note && (
          <span className={`shrink-0 text-2xs ${summary.tone === 'bad' ? 'text-bad' : 'text-faint'}`}>
            {visible(summary.note)}
          </span>
        )}
        {mono && (
          <span
            aria-hidden
            className={`shrink-0 text-faint opacity-0 transition-transform group-hover/entry:opacity-100 ${open ? 'rotate-90' : ''}`}
          >
            ›
          </span>
        )}
      </button>
    </>
  )
}

/** When it happened, how long it took, and its number as a link to it. */
const EntryPosition = ({ entry: { seq, turn, duration_ms, created_at } }: { entry: LogEntry }) => (
  <span className="tabular flex shrink-0 items-center gap-2 text-2xs text-faint">
    {duration_ms !== null && duration_ms >= 100 && <span>{duration(duration_ms)}</span>}
    <time dateTime={created_at} title={`${moment(created_at)}, turn ${turn}`} className="max-sm:hidden">
      {clock(created_at)}
    </time>
    <Link
      to="."
      search={previous => ({ ...previous, type: previous.q === undefined ? undefined : previous.type })}
      hash={`e${seq}`}
      tabIndex={-1}
      aria-label={`Link to entry ${seq}`}
      className="min-w-6 text-right hover:text-accent"
    >
      {seq}
    </Link>
  </span>
)
