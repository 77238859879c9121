import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import { entrySummary } from '../../trace/entry-summary.ts'
import { isObject, numberAt, textAt } from '../../trace/fields.ts'
import { Button } from '../../ui/button.tsx'
import { PlainText } from '../plain-text.tsx'
import { Clamped } from './clamped.tsx'

type Props = { agent_run_id: number; output: unknown; open: boolean; on_toggle: () => void }
type Range = { agent_run_id: number; from_seq: number; through_seq: number }

const summary_lines = 6
const page_size = 100

/**
 * A compaction of the conversation: its summary, and on request the entries that it replaced for the model.
 */
export function Compaction({ agent_run_id, output, open, on_toggle }: Props) {
  const [expanded, setExpanded] = useState(false)
  const summary = textAt(output, 'summary')
  const replaced = isObject(output) ? output.replaced : null
  const [from_seq, through_seq] = [numberAt(replaced, 'from_seq'), numberAt(replaced, 'through_seq')]
  return (
    <>
      {summary !== null && (
        <Clamped text={summary} lines={summary_lines} open={open} on_toggle={on_toggle}>
          {shown => <PlainText text={shown} />}
        </Clamped>
      )}
      {from_seq !== null && through_seq !== null && (
        <>
          <Button
            variant="quiet"
            className="h-6! text-xs!"
            aria-expanded={expanded}
            onClick={() => setExpanded(!expanded)}
          >
            {expanded
              ? 'Hide what it replaced'
              : `Show what it replaced: entries ${from_seq} to ${through_seq}`}
          </Button>
          {expanded && (
            <ReplacedEntries agent_run_id={agent_run_id} from_seq={from_seq} through_seq={through_seq} />
          )}
        </>
      )}
    </>
  )
}

/** One line for each entry, which links to the whole entry in the trace. */
function ReplacedEntries({ agent_run_id, from_seq, through_seq }: Range) {
  const entries = useInfiniteQuery({
    queryKey: ['replaced_entries', agent_run_id, from_seq, through_seq],
    queryFn: ({ pageParam: after_seq, signal }) =>
      call('getAgentRunLogs', {
        params: { agent_run_id },
        query: { after_seq, before_seq: through_seq + 1, limit: page_size },
        signal,
      }),
    initialPageParam: from_seq - 1,
    getNextPageParam: ({ logs }) => (logs.length < page_size ? undefined : logs.at(-1)?.seq),
  })
  const logs = entries.data?.pages.flatMap(page => page.logs) ?? []
  return (
    <>
      <ol aria-label="Replaced entries" className="max-h-96 space-y-0.5 overflow-auto text-xs">
        {logs.map(entry => {
          const { label, line, note } = entrySummary(entry)
          return (
            <li key={entry.seq} className="truncate">
              <Link
                to="/agent/trace/$id"
                params={{ id: String(agent_run_id) }}
                hash={`e${entry.seq}`}
                className="text-accent hover:underline"
              >
                #{entry.seq}
              </Link>{' '}
              <span className="font-medium">{visible(label)}</span> <span className="text-muted">{line}</span>{' '}
              {note}
            </li>
          )
        })}
      </ol>
      {entries.isError && (
        <p role="alert" className="text-bad text-xs">
          {visible(entries.error.message)}
        </p>
      )}
      {entries.hasNextPage && (
        <Button
          variant="quiet"
          className="h-6! text-xs!"
          busy={entries.isFetchingNextPage}
          onClick={() => entries.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </>
  )
}
