import { type LimitName, limit_names, run_limits } from '../../contract/runs/run-limits.ts'
import type { Body } from '../sdk/operations.ts'
import { type Option, type Values, whole } from './command.ts'

/** `max-cost-usd` for `max_cost_usd`. */
type OptionName<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}-${OptionName<Rest>}`
  : Name
type BudgetOptions = { [K in LimitName as OptionName<K>]: Option & { type: 'string' } }

const optionName = (name: LimitName) => name.replaceAll('_', '-') as OptionName<LimitName>

export const budget_options = Object.fromEntries(
  limit_names.map(name => {
    const { unit, option } = run_limits[name]
    return [optionName(name), { type: 'string', value: unit === 'usd' ? 'USD' : 'N', about: option }]
  }),
) as BudgetOptions

/** Returns the budget that the options set; undefined without such an option. */
export function budgetOf(values: Partial<Values<BudgetOptions>>): Body<'createAgentRun'>['budget'] {
  const budget: Body<'createAgentRun'>['budget'] = {}
  for (const name of limit_names) {
    const option = optionName(name)
    const text = values[option]
    if (text !== undefined)
      Object.assign(budget, { [name]: run_limits[name].unit === 'usd' ? text : whole(`--${option}`, text) })
  }
  return Object.keys(budget).length === 0 ? undefined : budget
}
