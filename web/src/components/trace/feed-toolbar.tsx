import { useNavigate, useSearch } from '@tanstack/react-router'
import { ListTree } from 'lucide-react'
import type { ReactNode } from 'react'
import type { MessageType } from '../../../../src/contract/runs/logs.ts'
import { MessageTypes } from '../../api/names.ts'
import { plural } from '../../text/format.ts'
import { messageLabels } from '../../trace/entry-summary.ts'
import { Select } from '../../ui/field.tsx'
import { IconButton } from '../../ui/icon-button.tsx'

const chips: MessageType[] = ['ACTION', 'USER_MESSAGE']

type Props = {
  /** The search field. */
  children: ReactNode
  /** How many entries are shown; null in the list of matches. */
  total: number | null
  /** Whether the outline is open. */
  outline: boolean
  on_outline: () => void
}

/** Search and filters of the trace. They are part of the address. */
export function FeedToolbar({ children, total, outline, on_outline }: Props) {
  const search = useSearch({ from: '/app/agent/trace/$id' })
  const navigate = useNavigate({ from: '/agent/trace/$id' })
  const { type, failed } = search
  // A search needs the space of the chips.
  const shown = search.q === undefined ? chips : chips.filter(chip => chip === type)
  const rest = MessageTypes.filter(type => !shown.includes(type))
  const change = (next: { type?: MessageType; failed?: true }) =>
    navigate({
      search: previous => ({ ...previous, type: undefined, failed: undefined, ...next }),
      hash: '',
      replace: true,
    })
  return (
    <search className="flex shrink-0 items-center gap-2 overflow-x-auto border-line border-b bg-surface px-3 py-1.5">
      <IconButton
        label={outline ? 'Hide the outline' : 'Show the outline'}
        aria-pressed={outline}
        onClick={on_outline}
      >
        <ListTree className={`size-4 ${outline ? 'text-accent' : ''}`} />
      </IconButton>
      {children}
      <div role="group" aria-label="Kind of entry" className="flex shrink-0 gap-1">
        <Chip on={!type && !failed} onClick={() => change({})}>
          All
        </Chip>
        <Chip on={failed === true} onClick={() => change(failed ? {} : { failed: true })}>
          Failures
        </Chip>
        {shown.map(chip => (
          <Chip key={chip} on={type === chip} onClick={() => change(type === chip ? {} : { type: chip })}>
            {messageLabels[chip]}
          </Chip>
        ))}
        <Select
          aria-label="Other kinds"
          className={`h-6! w-20! rounded-full! text-xs! ${type && rest.includes(type) ? 'border-accent! text-accent' : ''}`}
          value={type && rest.includes(type) ? type : ''}
          onChange={event => change({ type: rest.find(type => type === event.target.value) })}
        >
          <option value="">More</option>
          {rest.map(type => (
            <option key={type} value={type}>
              {messageLabels[type]}
            </option>
          ))}
        </Select>
      </div>
      <span className="tabular ml-auto shrink-0 text-faint text-xs">
        {total !== null &&
          (type || failed ? `${total.toLocaleString('en')} found` : plural(total, 'entry', 'entries'))}
      </span>
    </search>
  )
}

const Chip = ({ on, onClick, children }: { on: boolean; onClick: () => void; children: React.ReactNode }) => (
  <button
    type="button"
    aria-pressed={on}
    onClick={onClick}
    className={`h-6 rounded-full border px-2 text-xs ${on ? 'border-ink bg-ink text-canvas' : 'border-line text-muted hover:border-strong hover:text-ink'}`}
  >
    {children}
  </button>
)
