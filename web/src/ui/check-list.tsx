import type { ReactNode } from 'react'

type Option<T> = { value: T; label: ReactNode; hint?: ReactNode }

type Props<T> = {
  legend: string
  hint?: ReactNode
  problem?: string | undefined
  options: readonly Option<T>[]
  chosen: readonly T[]
  on_change: (chosen: T[]) => void
  /** Short labels stand side by side. */
  columns?: boolean
}

/** Several of a list. A long list scrolls inside its frame. */
export function CheckList<T extends string | number>({
  legend,
  hint,
  problem,
  options,
  chosen,
  on_change,
  columns = false,
}: Props<T>) {
  const toggle = (value: T, on: boolean) =>
    on_change(options.map(option => option.value).filter(one => (one === value ? on : chosen.includes(one))))
  const note = problem ?? hint
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium text-muted text-xs">{legend}</legend>
      <div
        className={`max-h-80 overflow-y-auto rounded-md border bg-surface p-1 ${problem ? 'border-bad' : 'border-line'} ${columns ? 'grid grid-cols-2 sm:grid-cols-3' : ''}`}
      >
        {options.map(({ value, label, hint }) => (
          <label
            key={value}
            className="flex min-h-7 items-start gap-2 rounded px-1.5 py-1 text-sm hover:bg-hover"
          >
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={event => toggle(value, event.target.checked)}
              className="mt-0.5 size-4 shrink-0 accent-accent"
            />
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {label}
              {hint && <span className="block text-faint text-xs">{hint}</span>}
            </span>
          </label>
        ))}
      </div>
      {note && <p className={`mt-1 text-xs ${problem ? 'text-bad' : 'text-faint'}`}>{note}</p>}
    </fieldset>
  )
}
