import { type ReviewMode, review_modes } from '../../../../../src/contract/review-modes.ts'
import { Field, Select } from '../../../ui/field.tsx'

type Props = {
  value: ReviewMode | null
  on_change: (review: ReviewMode | null) => void
  problem: string | undefined
}

const labels: Record<ReviewMode, string> = { model: 'By rules and a model', rules: 'By rules alone' }

/**
 * Who reviews the change before the push. Null is the default of the repository, the organization or the
 * service.
 */
export function ReviewField({ value, on_change, problem }: Props) {
  return (
    <Field label="Review" problem={problem}>
      {props => (
        <Select
          {...props}
          name="review"
          value={value ?? ''}
          onChange={event => on_change(review_modes.find(mode => mode === event.target.value) ?? null)}
        >
          <option value="">Default</option>
          {review_modes.map(mode => (
            <option key={mode} value={mode}>
              {labels[mode]}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
