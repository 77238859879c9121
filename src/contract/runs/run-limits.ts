/**
 * The limits that a caller may set for a run, in the order of the API. From a row follow the fields of
 * requests and responses, the option of the command line and the column of `runs`; when it is reached:
 * src/core/runs/budget/limits.ts. `about`: its meaning in a request.
 */
export const run_limits = {
  max_cost_usd: {
    unit: 'usd',
    about:
      'US dollars, as a number or a decimal string; has no effect when the price of the model is unknown',
    option: 'pause the run when it has cost this much',
  },
  max_steps: {
    unit: 'steps',
    max: 100_000,
    about: 'Number of model responses',
    option: 'pause the run after this many steps',
  },
  max_active_seconds: {
    unit: 'seconds',
    max: 604_800,
    about: 'Seconds of worker time',
    option: 'pause the run after this active time',
  },
  max_wall_seconds: {
    unit: 'seconds',
    max: 604_800,
    about: 'Seconds since the turn was requested, including waiting',
    option: 'pause the run after this time',
  },
} as const

export type LimitName = keyof typeof run_limits
export const limit_names = Object.keys(run_limits) as LimitName[]

/** By limit, `usd` where it is an amount of money (a decimal string) and `count` otherwise. */
export type ByLimit<Usd, Count> = {
  [K in LimitName]: (typeof run_limits)[K]['unit'] extends 'usd' ? Usd : Count
}

/** The limits of a run; null: no limit. */
export type RunBudget = ByLimit<string | null, number | null>

/** Returns a value for each limit, in the order of the API. The caller states their types. */
export const byLimit = <T>(read: (name: LimitName) => unknown): T =>
  Object.fromEntries(limit_names.map(name => [name, read(name)])) as T

export const no_budget: RunBudget = byLimit(() => null)
