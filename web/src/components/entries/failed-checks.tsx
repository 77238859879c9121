import { CircleX } from 'lucide-react'
import { visible } from '../../text/visible.ts'
import { objectsAt, textAt } from '../../trace/fields.ts'
import { SafeLink } from '../safe-link.tsx'
import { Terminal } from './terminal.tsx'

/** Checks that failed, each with the part of its output that shows why. */
export function FailedChecks({
  observation,
  open,
  on_toggle,
}: {
  observation: unknown
  open: boolean
  on_toggle: () => void
}) {
  return (
    <ul className="space-y-1.5">
      {objectsAt(observation, 'checks').map((check, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the checks of an entry never change their order
        <li key={index} className="space-y-1">
          <div className="flex items-center gap-2 text-xs">
            <CircleX aria-label="failed" className="size-3.5 shrink-0 text-bad" />
            <SafeLink href={textAt(check, 'url')}>{visible(textAt(check, 'name') ?? 'check')}</SafeLink>
            <span className="text-faint">
              {visible((textAt(check, 'conclusion') ?? '').replaceAll('_', ' '))}
            </span>
          </div>
          <Terminal text={textAt(check, 'log_excerpt') ?? ''} open={open} on_toggle={on_toggle} failed />
        </li>
      ))}
    </ul>
  )
}
