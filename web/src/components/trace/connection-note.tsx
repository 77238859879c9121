import { RefreshCw, Unplug } from 'lucide-react'
import type { StreamState } from '../../api/visible-tab-stream.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'

/** Shows that the page may be out of date. Renders nothing while the stream is live. */
export function ConnectionNote({ state }: { state: StreamState }) {
  if (state.name === 'reconnecting') {
    return (
      <Badge tone="warn" title={visible(problemText(state.error))}>
        <RefreshCw aria-hidden className="size-3 animate-spin [animation-duration:3s]" /> Reconnecting…
      </Badge>
    )
  }
  if (state.name === 'ended') {
    return (
      <Badge tone="bad" title={visible(state.problem.message)}>
        <Unplug aria-hidden className="size-3" /> Not live: {visible(state.problem.message)}
      </Badge>
    )
  }
  return null
}

const problemText = (error: unknown) => (error instanceof Error ? error.message : 'The stream was closed')
