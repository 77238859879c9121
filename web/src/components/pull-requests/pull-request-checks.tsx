import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleDashed, CircleX } from 'lucide-react'
import type { Check } from '../../../../src/contract/pull-requests/checks.ts'
import { forgeResourceNames } from '../../../../src/contract/repositories/forge-resources.ts'
import { checksQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { Terminal } from '../entries/terminal.tsx'
import { SafeLink } from '../safe-link.tsx'

/** Checks of a forge do not appear in the run's stream, so the page polls while a run waits for them. */
const POLL_INTERVAL_MS = 10_000

/** `state`: what makes other results likely. `poll`: whether results of a forge are outstanding. */
type Props = { pr_id: number; state: string; poll: boolean }

/** The checks of a pull request and why they failed. */
export function PullRequestChecks({ pr_id, state, poll }: Props) {
  const { data } = useQuery({
    ...checksQuery(pr_id, state),
    refetchInterval: poll ? POLL_INTERVAL_MS : false,
  })
  if (!data || data.items.length + data.unreadable.length === 0) return null
  return (
    <section aria-label="Checks" className="mt-2">
      <h3 className="text-muted text-xs">{summaryOf(data)}</h3>
      {data.unreadable.length > 0 && (
        <p className="mt-1 text-warn text-xs">
          Cannot read: {data.unreadable.map(resource => forgeResourceNames[resource]).join(', ')}. The page
          Integrations shows which permission is missing.
        </p>
      )}
      <ul className="mt-1 space-y-1">
        {data.items.map(check => (
          <CheckLine key={check.id} check={check} />
        ))}
      </ul>
    </section>
  )
}

function summaryOf({ passed, failed, pending }: { passed: number; failed: number; pending: number }): string {
  const parts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(pending > 0 ? [`${pending} pending`] : []),
    ...(passed > 0 ? [`${passed} passed`] : []),
  ]
  return parts.length === 0 ? 'Checks: none' : `Checks: ${parts.join(', ')}`
}

const good: Check['conclusion'][] = ['success', 'neutral', 'skipped']

function CheckLine({ check }: { check: Check }) {
  const { name, conclusion, url, log_excerpt, attempt, status } = check
  const word = (conclusion ?? status).replaceAll('_', ' ')
  const [Icon, color] =
    conclusion === null
      ? [CircleDashed, 'text-faint']
      : good.includes(conclusion)
        ? [CircleCheck, 'text-ok']
        : [CircleX, 'text-bad']
  const line = (
    <>
      <Icon aria-hidden className={`size-3.5 shrink-0 ${color}`} />
      <span className="[overflow-wrap:anywhere]">{visible(name)}</span>
      <span className="shrink-0 text-faint">
        {word}
        {attempt > 1 && `, run ${attempt} times`}
      </span>
    </>
  )
  if (!log_excerpt) return <li className="flex items-center gap-2 text-xs">{line}</li>
  return (
    <li>
      <details className="group/check">
        <summary className="flex cursor-pointer items-center gap-2 text-xs">
          {line}
          <span aria-hidden className="text-faint transition-transform group-open/check:rotate-90">
            ›
          </span>
        </summary>
        <div className="mt-1 space-y-1">
          <Terminal text={log_excerpt} open on_toggle={() => {}} />
          {url !== null && (
            <SafeLink href={url} className="text-xs">
              View details
            </SafeLink>
          )}
        </div>
      </details>
    </li>
  )
}
