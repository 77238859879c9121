import { limit_names, type RunBudget } from '../../../contract/runs/run-limits.ts'
import { type Ceilings, type SpentAmounts, usedCeilings, usedLimits } from './limits.ts'

/** A limit of which most is used. `last`: almost nothing is left. */
export type NearLimit = { limit: string; level: 'near' | 'last'; used: number; allowed: number }

const NEAR = 0.8
const LAST = 0.95

/**
 * Returns every limit that the run is close to: its caller's, the service's for a turn, and `others` by name;
 * null: no limit.
 */
export function nearLimits(
  spent: SpentAmounts,
  budget: RunBudget,
  ceilings: Ceilings,
  others: [limit: string, used: number, allowed: number | null][],
): NearLimit[] {
  const own = usedLimits(budget, spent).sort(
    (a, b) => limit_names.indexOf(a.name) - limit_names.indexOf(b.name),
  )
  const limits = [
    ...own.map(limit => ({ ...limit, name: `budget ${limit.name}` })),
    ...usedCeilings(spent, ceilings),
    ...others.map(([name, used, allowed]) => ({ name, unit: '', used, allowed })),
  ]
  return limits.flatMap(({ name: limit, unit, used: exact, allowed }) => {
    const used = unit === 'seconds' ? Math.floor(exact) : exact
    const level = allowed === null || used === 0 ? null : levelOf(limit, used, allowed)
    return level === null || allowed === null ? [] : [{ limit, level, used, allowed }]
  })
}

function levelOf(limit: string, used: number, allowed: number): NearLimit['level'] | null {
  const one_step_left = limit.includes('steps') && used === allowed - 1
  if (one_step_left || used >= LAST * allowed) return 'last'
  return used >= NEAR * allowed ? 'near' : null
}

/** Identifies a notice, so that it is given once: a raised limit has a new key. */
export const noticeKey = ({ limit, level, allowed }: NearLimit) => `${limit} ${allowed} ${level}`

/** Returns the notice for the agent. */
export function noticeText(limits: NearLimit[]): string {
  const list = limits
    .map(({ limit, used, allowed }) => `- ${limit}: ${round(used)} of ${round(allowed)}`)
    .join('\n')
  const end = limits.some(({ level }) => level === 'last')
    ? 'Almost nothing is left. Leave the workspace in a working state and give your final answer now: what is done and what is not.'
    : 'Do what matters most first. At a limit the turn ends, so keep the workspace in a working state from now on.'
  return `Notice of the service, not of a person: this run comes near its limits.\n${list}\n${end}`
}

const round = (value: number) => String(Number(value.toFixed(4)))
