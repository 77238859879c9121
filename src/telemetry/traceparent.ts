/**
 * Returns what a `traceparent` header names: W3C Trace Context, version 00 and what later versions keep of
 * it. Null for anything else.
 */
export function readTraceparent(
  text: string | undefined,
): { trace_id: string; span_id: string; flags: number } | null {
  const [, version, trace_id, span_id, flags, rest] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(text ?? '') ?? []
  if (
    trace_id === undefined ||
    span_id === undefined ||
    version === 'ff' ||
    (version === '00' && rest !== undefined)
  )
    return null
  if (/^0+$/.test(trace_id) || /^0+$/.test(span_id)) return null
  return { trace_id, span_id, flags: Number.parseInt(flags ?? '0', 16) & 1 }
}

export const writeTraceparent = ({
  trace_id,
  span_id,
  flags,
}: {
  trace_id: string
  span_id: string
  flags: number
}): string => `00-${trace_id}-${span_id}-0${flags & 1}`
