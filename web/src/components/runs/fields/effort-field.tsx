import { type ReasoningEffort, reasoning_efforts } from '../../../../../src/contract/reasoning-efforts.ts'
import { sameNames } from '../../filters.tsx'
import { type FieldProps, SelectField } from '../../form/api-form.tsx'

/** How much the model thinks. Null is the default of the repository, the organization or the model. */
export const EffortField = (field: Omit<FieldProps<ReasoningEffort | null>, 'label'>) => (
  <SelectField
    {...field}
    label="Reasoning effort"
    name="reasoning_effort"
    options={[[null, 'Default'], ...sameNames(reasoning_efforts)]}
  />
)
