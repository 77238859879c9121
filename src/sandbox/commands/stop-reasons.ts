import type { ExecRequest } from '../port.ts'

const longest_timeout_ms = 2 ** 31 - 1

type StopReason = 'timeout' | 'interrupted' | 'output_limit' | 'disk_limit' | 'lost'

/** Resolves with the first event that stops a command which does not end by itself. */
export function watchStopReasons(
  { timeout_ms, signal }: Pick<ExecRequest, 'timeout_ms' | 'signal'>,
  lost: AbortSignal,
  full: AbortSignal,
) {
  const { promise: reason, resolve: giveUp } = Promise.withResolvers<StopReason>()
  const over = new AbortController()
  const timer = setTimeout(() => giveUp('timeout'), Math.min(timeout_ms, longest_timeout_ms))
  const on = (source: AbortSignal | undefined, why: StopReason) => {
    if (source?.aborted) giveUp(why)
    else source?.addEventListener('abort', () => giveUp(why), { signal: over.signal })
  }
  on(lost, 'lost')
  on(full, 'disk_limit')
  on(signal, 'interrupted')
  const stop = () => {
    clearTimeout(timer)
    over.abort()
  }
  return { reason, giveUp, stop }
}
