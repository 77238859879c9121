import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { modelsQuery } from '../../../api/queries.ts'
import { visible } from '../../../text/visible.ts'
import { Field, Input, Select } from '../../../ui/field.tsx'

type Props = {
  label: string
  value: string
  on_change: (model: string) => void
  problem: string | undefined
  hint?: React.ReactNode
  default_label?: string
}

const other = '\u0000other'

/**
 * A model by name: one of the list, or any other that a provider with open-ended models may know. `''` is the
 * default.
 */
export function ModelField({ label, value, on_change, problem, hint, default_label }: Props) {
  const models = useQuery(modelsQuery).data
  const known = models?.providers.flatMap(provider => provider.models.map(model => model.value)) ?? []
  const [typing, setTyping] = useState(false)
  const typed = typing || (value !== '' && models !== undefined && !known.includes(value))
  const choose = (next: string) => {
    setTyping(next === other)
    on_change(next === other ? '' : next)
  }
  return (
    <Field label={label} problem={problem} hint={hint}>
      {props => (
        <div className="flex gap-2">
          <Select {...props} value={typed ? other : value} onChange={event => choose(event.target.value)}>
            {default_label && <option value="">{default_label}</option>}
            {value !== '' && models === undefined && <option value={value}>{visible(value)}</option>}
            {models?.providers.map(provider => (
              <optgroup key={provider.name} label={visible(provider.name)}>
                {provider.models.map(model => (
                  <option key={model.value} value={model.value}>
                    {visible(model.label)}
                  </option>
                ))}
              </optgroup>
            ))}
            <option value={other}>Another model…</option>
          </Select>
          {typed && (
            <Input
              aria-label="Name of the model"
              placeholder="provider/model"
              value={value}
              className="font-mono"
              spellCheck={false}
              onChange={event => on_change(event.target.value)}
            />
          )}
        </div>
      )}
    </Field>
  )
}
