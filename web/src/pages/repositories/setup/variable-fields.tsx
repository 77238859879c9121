import { Plus, X } from 'lucide-react'
import { useId } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Input } from '../../../ui/field.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import type { Variable } from './setup-draft.ts'

type Props = {
  value: Variable[]
  on_change: (variables: Variable[]) => void
  problem: string | undefined
  locked: boolean
}

/** Environment variables as pairs of name and value. */
export function VariableFields({ value: variables, on_change, problem, locked }: Props) {
  const id = useId()
  const set = (index: number, change: Partial<Variable>) =>
    on_change(variables.map((variable, at) => (at === index ? { ...variable, ...change } : variable)))
  return (
    <fieldset className="min-w-0" aria-describedby={id}>
      <legend className="mb-1 font-medium text-muted text-xs">Variables</legend>
      {variables.length > 0 && (
        <ul className="mb-1.5 space-y-1.5">
          {variables.map(({ name, value }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a variable whose name is being typed has no identity but its position
            <li key={index} className="flex items-center gap-1.5">
              <Input
                aria-label={`Name of variable ${index + 1}`}
                placeholder="NAME"
                // One that was just added.
                autoFocus={name === '' && value === ''}
                spellCheck={false}
                className="font-mono text-xs!"
                value={name}
                onChange={event => set(index, { name: event.target.value })}
              />
              <Input
                aria-label={`Value of variable ${index + 1}`}
                placeholder="value"
                spellCheck={false}
                className="font-mono text-xs!"
                value={value}
                onChange={event => set(index, { value: event.target.value })}
              />
              {!locked && (
                <IconButton
                  label={`Remove variable ${index + 1}`}
                  onClick={() => on_change(variables.filter((_pair, at) => at !== index))}
                >
                  <X className="size-4" />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {locked && variables.length === 0 && <p className="text-faint">None</p>}
      {!locked && (
        <Button onClick={() => on_change([...variables, { name: '', value: '' }])}>
          <Plus aria-hidden className="size-4" /> Add variable
        </Button>
      )}
      <p id={id} className={`mt-1 text-xs ${problem ? 'text-bad' : 'text-faint'}`}>
        {problem ?? 'For these commands only, and shown in traces. Use a secret for what must stay hidden.'}
      </p>
    </fieldset>
  )
}
