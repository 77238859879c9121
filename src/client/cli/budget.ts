import type { Body } from '../sdk/operations.ts'
import { type Options, type Values, whole } from './command.ts'

export const budget_options = {
  'max-cost-usd': { type: 'string', value: 'USD', about: 'pause the run when it has cost this much' },
  'max-steps': { type: 'string', value: 'N', about: 'pause the run after this many steps' },
  'max-active-seconds': { type: 'string', value: 'N', about: 'pause the run after this active time' },
  'max-wall-seconds': { type: 'string', value: 'N', about: 'pause the run after this time' },
} as const satisfies Options

/** Returns the budget that the options set; undefined without such an option. */
export function budgetOf(values: Values<typeof budget_options>): Body<'createAgentRun'>['budget'] {
  const budget = {
    max_cost_usd: values['max-cost-usd'],
    max_steps: whole('--max-steps', values['max-steps']),
    max_active_seconds: whole('--max-active-seconds', values['max-active-seconds']),
    max_wall_seconds: whole('--max-wall-seconds', values['max-wall-seconds']),
  }
  return Object.values(budget).every(value => value === undefined) ? undefined : budget
}
