/**
 * Makes responses of the API the same in each run of the script. This file alone replaces what a run
 * measures: times, durations, sizes, costs and tokens (the scripted model has none), random ids, and what
 * belongs to this machine.
 */

/** The time of the pictures: the clock of the page, and the origin of all times in it. */
export const NOW = Date.parse('2026-11-16T10:30:00Z')

export type Replacements = {
  /** The number of runs of the team; the newest is the highest. */
  runs: number
  /** Texts of responses and what is shown instead: paths and hosts of this machine, names of commits. */
  texts: [string, string][]
}

/** Where an object is in time, and its number among its kind. */
type Position = { order: number; base: number }
type Item = Record<string, unknown>

const MINUTE = 60_000
const DAY = 1440 * MINUTE

const fixed: Record<string, number | string> = {
  queue_ms: 180,
  claim_ms: 30,
  mirror_ms: 140,
  clone_ms: 320,
  sandbox_ms: 210,
  setup_ms: 5_400,
  first_model_byte_ms: 900,
  first_action_ms: 2_100,
  latency_ms: 42,
  last_latency_ms: 42,
  hint: 'x7Qf',
  request_id: '6b1157e7-cd4f-4d47-ac26-97a6e7fa5ced',
  digest: 'c89228144202f6a004e028e715b35578',
  age_seconds: 5_400,
  median_seconds_to_pull_request: 190,
  // A failed delivery is attempted again while the pictures are taken.
  attempts: 1,
}

const cost = (order: number) => (0.11 + order * 0.037).toFixed(2)
const counted: Record<string, (order: number) => number | string> = {
  input_tokens: order => 41_200 + order * 8_300,
  output_tokens: order => 2_100 + order * 410,
  cached_tokens: order => 33_000 + order * 6_600,
  cost_usd: cost,
  known_cost_usd: cost,
  active_seconds: order => 64 + order * 13,
  duration_ms: order => 40 + ((order * 37) % 11) ** 3 * 9,
  start_ms: order => order * 260,
  message_id: order => `msg_${String(order).padStart(4, '0')}8adcf391e7ad439d836e2069fc2a`,
}

/** The values of an object that has this key in its parent. */
const nested: Record<string, Record<string, (order: number) => number | string>> = {
  limits: { memory_bytes: () => 4 * 2 ** 30, cpus: () => 2, disk_bytes: () => 10 * 2 ** 30 },
  peaks: {
    memory_bytes: order => (180 + ((order * 37) % 200)) * 2 ** 20,
    disk_bytes: order => (40 + ((order * 53) % 300)) * 2 ** 20,
    processes: order => 12 + (order % 7),
    cpu_ms: order => 4_200 + order * 310,
  },
  tool_input: { key: () => 'c6ff726aa57a308d9ee59d5720a3aac5' },
}

const COST_OF_RUN = 0.3
const COST_OF_MONTH = '3.90'

/** Adds up over repositories and days. */
function usageOf(runs: number) {
  const cost_usd = (runs * COST_OF_RUN).toFixed(2)
  const tokens = { input_tokens: runs * 91_000, output_tokens: runs * 4_600, cached_tokens: runs * 72_000 }
  return { ...tokens, cost_usd, known_cost_usd: cost_usd, active_seconds: runs * 107 }
}

const later = /^(expires|deadline|resets|next_attempt|sign_in_link_expires)_|_until$/
const delays: Record<string, number> = { started_at: 2_000, merged_at: 60 * MINUTE }
for (const name of ['finished_at', 'ended_at', 'completed_at']) delays[name] = 96_000

/** The older a run, the longer ago: minutes for the newest, days for the first. */
const timeOfRun = (id: number, { runs }: Replacements) => NOW - Math.max(runs + 1 - id, 1) ** 3 * 3 * MINUTE

function moment(key: string, { base, order }: Position): string {
  if (later.test(key)) return new Date(NOW + (order % 9) * DAY + 95 * MINUTE).toISOString()
  return new Date(Math.min((base || NOW - DAY) + (delays[key] ?? 0), NOW)).toISOString()
}

function steadyScalar(value: unknown, key: string, parent: string, position: Position): unknown {
  if (value === null) return null
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return moment(key, position)
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value))
    return /^(from|first_day)$/.test(key) ? '2026-11-01' : '2026-11-16'
  const replace = nested[parent]?.[key] ?? counted[key]
  return replace ? replace(position.order) : (fixed[key] ?? value)
}

/** By the run that an object belongs to, else by its own number. */
function positionOf(item: Item, { base, order }: Position, replacements: Replacements): Position {
  const own = [item.seq, item.id, item.user_id, order].find(number => typeof number === 'number') as number
  if (typeof item.agent_run_id === 'number')
    return { order: own, base: timeOfRun(item.agent_run_id, replacements) + own * 4_000 }
  if ('source_type' in item && typeof item.id === 'number')
    return { order: own, base: timeOfRun(item.id, replacements) }
  if (typeof item.body === 'string') return { order: own, base: NOW - 90 * MINUTE + own * 20 * MINUTE }
  if (own > 0 && base === 0) return { order: own, base: NOW - 25 * DAY + own * 6 * 60 * MINUTE }
  return { order: own, base }
}

function steady(
  value: unknown,
  key: string,
  parent: string,
  position: Position,
  replacements: Replacements,
): unknown {
  const inside = (inner: unknown, name: string, at: Position) => steady(inner, name, key, at, replacements)
  if (Array.isArray(value))
    return value.map((item, index) =>
      steady(item, key, parent, { ...position, order: position.order || index }, replacements),
    )
  if (value === null || typeof value !== 'object') return steadyScalar(value, key, parent, position)
  const item = value as Item
  const own = positionOf(item, position, replacements)
  const same = Object.fromEntries(
    Object.entries(item).map(([name, inner]) => [name, inside(inner, name, own)]),
  )
  if (typeof item.runs === 'number') return { ...same, ...usageOf(item.runs) }
  if (item.unit === 'usd' && item.used === '0') return { ...same, used: COST_OF_MONTH }
  // How a machine enforces limits depends on its kernel.
  if (item.check === 'limits')
    return { ...same, state: 'ok', detail: 'memory, processors and processes by cgroup v2', fix: null }
  return same
}

/** Returns a JSON text as the pictures show it. `live`: of a stream, whose ephemeral events name no run. */
export function steadyJson(json: string, live: boolean, replacements: Replacements): string {
  const here = replacements.texts.reduce((text, [from, to]) => text.replaceAll(from, to), json)
  const text = here
    .replace(/(duration_ms |\()\d+\.\d+/g, (_all, before) => `${before}0.4`)
    .replace(/\d of 4 slots/, '1 of 4 slots')
  return JSON.stringify(
    steady(JSON.parse(text), '', '', { order: 0, base: live ? NOW - 95_000 : 0 }, replacements),
  )
}
