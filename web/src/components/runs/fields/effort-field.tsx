import { type ReasoningEffort, reasoning_efforts } from '../../../../../src/contract/reasoning-efforts.ts'
import { Field, Select } from '../../../ui/field.tsx'

type Props = {
  value: ReasoningEffort | null
  on_change: (effort: ReasoningEffort | null) => void
  problem: string | undefined
}

/** How much the model thinks. Null is the default of the repository, the organization or the model. */
export function EffortField({ value, on_change, problem }: Props) {
  return (
    <Field label="Reasoning effort" problem={problem}>
      {props => (
        <Select
          {...props}
          name="reasoning_effort"
          value={value ?? ''}
          onChange={event =>
            on_change(reasoning_efforts.find(effort => effort === event.target.value) ?? null)
          }
        >
          <option value="">Default</option>
          {reasoning_efforts.map(effort => (
            <option key={effort} value={effort}>
              {effort}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
