import { visible } from '../../text/visible.ts'

/**
 * Input and output of a tool that has no view of its own. `whole`: at its full height, instead of in a box
 * that scrolls.
 */
export function JsonView({
  title,
  value,
  whole = false,
}: {
  title: string
  value: unknown
  whole?: boolean
}) {
  if (value === null || value === undefined) return null
  return (
    <div>
      <div className="mb-0.5 text-2xs text-faint uppercase tracking-wide">{title}</div>
      <pre
        className={`whitespace-pre-wrap rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs [overflow-wrap:anywhere] ${whole ? '' : 'max-h-[60vh] overflow-auto'}`}
      >
        {visible(typeof value === 'string' ? value : JSON.stringify(value, null, 2))}
      </pre>
    </div>
  )
}
