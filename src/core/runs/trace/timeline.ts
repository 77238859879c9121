import type { RunTimeline, TimelinePart, TimelineTurn } from '../../../contract/runs/timeline.ts'
import { plainDecimal } from '../../text/plain-decimal.ts'

/** Entries of one kind in one part of a trace. Times are in milliseconds. */
export type KindRow = {
  part: number
  turn: number
  message_type: TimelinePart['kinds'][number]['message_type']
  tool_name: string | null
  entries: number
  failed: number
  from_seq: number
  through_seq: number
  first_at: number
  last_at: number
}
/** Cost of the model calls whose next entry is in one part. `seq`: of the first of these entries. */
export type CostRow = { part: number; turn: number; seq: number; cost_usd: string }
/** An entry with which another section begins. */
export type SectionStart = { seq: number; title: string | null }

type Part = Omit<TimelinePart, 'started_at' | 'ended_at' | 'cost_usd'> & {
  started: number
  ended: number
  cost: number
}
type Span = Pick<Part, 'from_seq' | 'through_seq' | 'started' | 'ended' | 'failed' | 'cost'>

/** Returns the entries with which parts begin: `parts` equally long ones, and one at each section. */
export function partStarts(total: number, parts: number, sections: readonly SectionStart[]): number[] {
  const length = Math.max(1, Math.ceil(total / parts))
  const equal = Array.from({ length: Math.ceil(total / length) }, (_, n) => 1 + n * length)
  return [...new Set([...equal, ...sections.map(({ seq }) => seq)])].sort((a, b) => a - b)
}

/** Puts the turns, sections and parts of a run together. `priced`: whether all of its costs are known. */
export function timelineOf(
  rows: readonly KindRow[],
  costs: readonly CostRow[],
  sections: readonly SectionStart[],
  priced: boolean,
): Pick<RunTimeline, 'turns' | 'parts'> {
  const parts = partsOf(rows)
  // A call of a turn that wrote no entry after it belongs to the last part of its turn.
  for (const { turn, seq, cost_usd } of costs) {
    const part =
      parts.findLast(part => part.turn === turn && part.from_seq <= seq) ??
      parts.find(part => part.turn === turn)
    if (part) part.cost += Number(cost_usd)
  }
  const wire = <T extends Span>({ started, ended, cost, ...rest }: T) => ({
    ...rest,
    started_at: new Date(started).toISOString(),
    ended_at: new Date(ended).toISOString(),
    cost_usd: priced ? usd(cost) : null,
  })
  const turns = grouped(parts, ({ turn }) => turn).map(({ key: turn, items }): TimelineTurn => {
    const of_turn = sections.filter(({ seq }) => seq >= (items[0]?.from_seq ?? 0))
    const titled = grouped(
      items,
      ({ from_seq }) => of_turn.findLast(({ seq }) => seq <= from_seq)?.title ?? null,
    )
    return {
      ...wire(spanOf(items)),
      turn,
      sections: titled.map(({ key: title, items: inner }) => ({ ...wire(spanOf(inner)), title })),
    }
  })
  return { turns, parts: parts.map(wire) }
}

function partsOf(rows: readonly KindRow[]): Part[] {
  const parts: Part[] = []
  for (const { items } of grouped(
    [...rows].sort((a, b) => a.turn - b.turn || a.part - b.part),
    ({ turn, part }) => `${turn} ${part}`,
  )) {
    const turn = items[0]?.turn ?? 0
    const before = parts.at(-1)
    parts.push({
      turn,
      from_seq: Math.min(...items.map(row => row.from_seq)),
      through_seq: Math.max(...items.map(row => row.through_seq)),
      started: before?.turn === turn ? before.ended : Math.min(...items.map(row => row.first_at)),
      ended: Math.max(...items.map(row => row.last_at)),
      failed: items.reduce((sum, row) => sum + row.failed, 0),
      cost: 0,
      kinds: items
        .map(({ message_type, tool_name, entries }) => ({ message_type, tool_name, entries }))
        .sort((a, b) => b.entries - a.entries),
    })
  }
  return parts
}

/** Consecutive items with the same key. */
function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): { key: K; items: T[] }[] {
  const groups: { key: K; items: T[] }[] = []
  for (const item of items) {
    const key = keyOf(item)
    const last = groups.at(-1)
    if (last && last.key === key) last.items.push(item)
    else groups.push({ key, items: [item] })
  }
  return groups
}

function spanOf(parts: readonly Part[]): Span {
  const [first, last] = [parts[0], parts.at(-1)]
  return {
    from_seq: first?.from_seq ?? 0,
    through_seq: last?.through_seq ?? 0,
    started: first?.started ?? 0,
    ended: last?.ended ?? 0,
    failed: parts.reduce((sum, part) => sum + part.failed, 0),
    cost: parts.reduce((sum, part) => sum + part.cost, 0),
  }
}

/** Without the rounding errors of a sum. */
const usd = (cost: number) => plainDecimal(cost.toFixed(10))
