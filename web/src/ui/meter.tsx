/** From this share on a limit is near. */
const NEAR_LIMIT = 0.8

/** A bar for the used part of a limit; `share` from 0 to 1, or above when the limit is exceeded. */
export function Meter({
  label,
  share,
  className = 'mt-1',
}: {
  label: string
  share: number
  className?: string
}) {
  const part = Math.min(1, Math.max(0, share))
  const color = share < NEAR_LIMIT ? 'bg-ok' : share < 1 ? 'bg-warn' : 'bg-bad'
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={1}
      aria-valuenow={part}
      aria-valuetext={`${Math.round(share * 100)} %`}
      className={`h-1.5 overflow-hidden rounded-full bg-hover ${className}`}
    >
      <div className={`h-full rounded-full ${color}`} style={{ width: `${part * 100}%` }} />
    </div>
  )
}
