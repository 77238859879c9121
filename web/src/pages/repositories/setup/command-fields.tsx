import { Plus, X } from 'lucide-react'
import { useId } from 'react'
import { Button } from '../../../ui/button.tsx'
import { TextArea } from '../../../ui/field.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'

type Props = {
  /** The name of one of them. */
  label: string
  hint: string
  value: string[]
  on_change: (commands: string[]) => void
  problem: string | undefined
  /** Whether the list cannot be changed: it is then shown without its buttons. */
  locked: boolean
}

/** A list of command lines, each of which may have several lines. */
export function CommandFields({ label, hint, value: commands, on_change, problem, locked }: Props) {
  const id = useId()
  return (
    <fieldset className="min-w-0" aria-describedby={id}>
      <legend className="mb-1 font-medium text-muted text-xs">{label}s</legend>
      {commands.length > 0 && (
        <ol className="mb-1.5 space-y-1.5">
          {commands.map((command, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a command has no identity but its position
            <li key={index} className="flex items-center gap-1.5">
              <TextArea
                aria-label={`${label} ${index + 1}`}
                aria-invalid={problem ? true : undefined}
                rows={command.split('\n').length}
                spellCheck={false}
                // One that was just added.
                autoFocus={command === ''}
                className="min-h-8 resize-none py-1.5! font-mono text-xs!"
                value={command}
                onChange={event => on_change(commands.with(index, event.target.value))}
              />
              {!locked && (
                <IconButton
                  label={`Remove ${label.toLowerCase()} ${index + 1}`}
                  onClick={() => on_change(commands.filter((_command, at) => at !== index))}
                >
                  <X className="size-4" />
                </IconButton>
              )}
            </li>
          ))}
        </ol>
      )}
      {locked && commands.length === 0 && <p className="text-faint">None</p>}
      {!locked && (
        <Button onClick={() => on_change([...commands, ''])}>
          <Plus aria-hidden className="size-4" /> Add {label.toLowerCase()}
        </Button>
      )}
      <p id={id} className={`mt-1 text-xs ${problem ? 'text-bad' : 'text-faint'}`}>
        {problem ?? hint}
      </p>
    </fieldset>
  )
}
