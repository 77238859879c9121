import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { Field, Input } from '../../../ui/field.tsx'

/** The text of the fields; '' is no limit. */
type BudgetDraft = { cost: string; steps: string; minutes: string }

export const no_budget: BudgetDraft = { cost: '', steps: '', minutes: '' }

/** The fields that show their own problems. */
export const budget_fields = ['budget.max_cost_usd', 'budget.max_steps', 'budget.max_active_seconds']

export const draftOf = ({
  max_cost_usd,
  max_steps,
  max_active_seconds,
}: AgentRun['budget']): BudgetDraft => ({
  cost: max_cost_usd ?? '',
  steps: max_steps === null ? '' : String(max_steps),
  minutes: max_active_seconds === null ? '' : String(Math.round((max_active_seconds / 60) * 100) / 100),
})

/**
 * The budget of a request. Input that cannot be parsed is sent unchanged, so that the service's own message
 * explains what is wrong.
 */
export const budgetOf = ({ cost, steps, minutes }: BudgetDraft) => ({
  max_cost_usd: cost.trim() === '' ? null : cost.trim(),
  max_steps: steps.trim() === '' ? null : Number(steps),
  max_active_seconds: minutes.trim() === '' ? null : Math.round(Number(minutes) * 60),
})

type Props = { draft: BudgetDraft; on_change: (draft: BudgetDraft) => void; problems: Record<string, string> }

/** Limits of one run. At a limit the run pauses and can be continued. */
export function BudgetFields({ draft, on_change, problems }: Props) {
  const field = (key: keyof BudgetDraft, label: string, problem: string | undefined, step: string) => (
    <Field label={label} problem={problem}>
      {props => (
        <Input
          {...props}
          type="number"
          inputMode="decimal"
          min={0}
          step={step}
          placeholder="no limit"
          value={draft[key]}
          onChange={event => on_change({ ...draft, [key]: event.target.value })}
        />
      )}
    </Field>
  )
  return (
    <fieldset>
      <legend className="mb-1.5 text-xs font-medium text-muted">
        Budget. The run pauses at a limit and can be continued.
      </legend>
      <div className="grid grid-cols-3 gap-3">
        {field('cost', 'Max cost (USD)', problems['budget.max_cost_usd'], 'any')}
        {field('steps', 'Max steps', problems['budget.max_steps'], '1')}
        {field('minutes', 'Active minutes', problems['budget.max_active_seconds'], 'any')}
      </div>
    </fieldset>
  )
}
