import type { ReviewMode } from '../../../../../src/contract/review-modes.ts'
import { type FieldProps, SelectField } from '../../form/api-form.tsx'

/**
 * Who reviews the change before the push. Null is the default of the repository, the organization or the
 * service.
 */
export const ReviewField = (field: Omit<FieldProps<ReviewMode | null>, 'label'>) => (
  <SelectField
    {...field}
    label="Review"
    name="review"
    options={[
      [null, 'Default'],
      ['model', 'By rules and a model'],
      ['rules', 'By rules alone'],
    ]}
  />
)
