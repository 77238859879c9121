import { CircleCheck, CircleDashed, CircleX } from 'lucide-react'
import type { ChecksSummary } from '../../../../src/contract/pull-requests/checks.ts'
import { plural } from '../../text/format.ts'

const outcomes = {
  success: { Icon: CircleCheck, style: 'text-ok' },
  failure: { Icon: CircleX, style: 'text-bad' },
  pending: { Icon: CircleDashed, style: 'text-warn' },
} as const

/** The combined result of checks in a few words. */
export function ChecksMark({
  summary: { state, passed, failed },
}: {
  summary: Omit<ChecksSummary, 'unreadable'>
}) {
  if (state === 'none') return <span className="text-faint text-xs">No checks</span>
  const { Icon, style } = outcomes[state]
  const text = {
    success: `${plural(passed, 'check')} passed`,
    failure: `${plural(failed, 'check')} failing`,
    pending: 'Checks running',
  }
  return (
    <span className={`flex items-center gap-1.5 text-xs ${style}`}>
      <Icon aria-hidden className="size-3.5 shrink-0" /> {text[state]}
    </span>
  )
}
