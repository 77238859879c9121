import { duration, moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import type { DeliveryDetail } from './webhooks-query.ts'

type Attempt = DeliveryDetail['log'][number]

/** The attempts of a delivery, newest first, with what the receiver responded. */
export const DeliveryAttempts = ({ attempts }: { attempts: Attempt[] }) => (
  <section aria-labelledby="attempts">
    <h2 id="attempts" className="mb-2 font-semibold">
      Attempts
    </h2>
    {attempts.length === 0 && <p className="text-faint">Nothing was sent yet.</p>}
    <ol aria-label="Attempts" className="rounded-lg border border-line bg-surface empty:hidden">
      {attempts.toReversed().map(attempt => (
        <AttemptItem key={attempt.n} attempt={attempt} />
      ))}
    </ol>
  </section>
)

function AttemptItem({
  attempt: { n, url, started_at, finished_at, status, error, latency_ms, answer },
}: {
  attempt: Attempt
}) {
  return (
    <li className="space-y-1 border-line border-b px-4 py-2.5 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">Attempt {n}</span>
        <Badge tone={finished_at === null ? 'neutral' : error === null ? 'ok' : 'bad'}>
          {finished_at === null ? 'In progress' : (status ?? 'No response')}
        </Badge>
        {latency_ms !== null && <span className="tabular text-muted">{duration(latency_ms)}</span>}
        <time dateTime={started_at} className="text-faint">
          {moment(started_at)}
        </time>
      </div>
      {url !== null && (
        <div className="font-mono text-faint text-xs [overflow-wrap:anywhere]">{visible(url)}</div>
      )}
      {error !== null && <p className="text-bad">{visible(error)}</p>}
      {answer && (
        <pre className="whitespace-pre-wrap rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs [overflow-wrap:anywhere]">
          {visible(answer)}
        </pre>
      )}
    </li>
  )
}
