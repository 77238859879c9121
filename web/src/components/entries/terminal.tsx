import { useState } from 'react'
import { CopyButton } from '../../ui/copy-button.tsx'
import { AnsiText } from '../plain-text.tsx'
import { Clamped } from './clamped.tsx'

const lines_closed = 8
/** An assertion with its difference and its position fits in. */
const lines_failed = 16

type Props = { text: string; open: boolean; on_toggle: () => void; note?: string | null; failed?: boolean }

/** Output of a program: its first lines, the last ones if it failed, or all of it in a scrolling box. */
export function Terminal({ text, open, on_toggle, note, failed = false }: Props) {
  const [near, setNear] = useState(false)
  const output = text.replace(/(?<!\n)\n+$/, '')
  if (output === '' && !note) return null
  return (
    <div
      className="relative rounded-md border border-line bg-sunken"
      onPointerEnter={() => setNear(true)}
      onPointerLeave={() => setNear(false)}
    >
      {(open || near) && output !== '' && (
        <div className="absolute top-1 right-1">
          <CopyButton label="Copy output" text={() => text} />
        </div>
      )}
      <Clamped
        text={output}
        lines={failed ? lines_failed : lines_closed}
        open={open}
        on_toggle={on_toggle}
        end={failed}
      >
        {shown => (
          <pre
            tabIndex={open ? 0 : undefined}
            className="max-h-[60vh] overflow-auto whitespace-pre-wrap px-3 py-2 font-mono text-xs [overflow-wrap:anywhere]"
          >
            <AnsiText text={shown} />
          </pre>
        )}
      </Clamped>
      {note && <p className="px-3 pb-1.5 text-2xs text-warn">{note}</p>}
    </div>
  )
}
