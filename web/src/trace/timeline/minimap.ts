import type { TimelinePart } from '../../../../src/contract/runs/timeline.ts'
import { toolKind } from '../tool-kind.ts'

export type BarColor = 'user' | 'answer' | 'plan' | 'change' | 'command' | 'other'

/**
 * A bar of the minimap. Positions in pixels; `width` from 0 to 1. `failed`: how strong its tick is, 0 without
 * a failure, up to 1.
 */
export type Bar = { top: number; height: number; width: number; color: BarColor; failed: number }

/** The largest height of an entry, so that a short run does not look like a few large ones. */
const MAX_ENTRY_PX = 12
const MIN_WIDTH = 0.2
/** A single failure can still be seen. */
const MIN_TICK = 0.3

/** The height of the whole trace in a minimap of this height. */
export const mapHeight = (total: number, height: number): number => Math.min(height, total * MAX_ENTRY_PX)

/**
 * One bar for each part, as long as its entries took on average: on a logarithmic scale, because they differ
 * by magnitudes.
 */
export function bars(parts: readonly TimelinePart[], total: number, height: number): Bar[] {
  const scale = mapHeight(total, height) / Math.max(1, total)
  const times = parts.map(timePerEntry)
  const longest = Math.log1p(Math.max(1, ...times))
  return parts.map((part, index) => ({
    top: (part.from_seq - 1) * scale,
    height: entriesOf(part) * scale,
    width: MIN_WIDTH + (1 - MIN_WIDTH) * (Math.log1p(times[index] ?? 0) / longest),
    color: colorOf(part),
    // In a long trace most parts have failures: the tick shows where they are many.
    failed: part.failed === 0 ? 0 : Math.max(MIN_TICK, Math.sqrt(part.failed / entriesOf(part))),
  }))
}

/** The index of the entry at a position. */
export function entryAt(y: number, total: number, height: number): number {
  const index = Math.floor((y / Math.max(1, mapHeight(total, height))) * total)
  return Math.min(Math.max(0, index), Math.max(0, total - 1))
}

const entriesOf = ({ from_seq, through_seq }: TimelinePart) => through_seq - from_seq + 1

const timePerEntry = (part: TimelinePart) =>
  (Date.parse(part.ended_at) - Date.parse(part.started_at)) / entriesOf(part)

/**
 * Messages and answers are rare and what people look for, so that one of them decides the color of its part.
 */
function colorOf({ kinds }: TimelinePart): BarColor {
  if (kinds.some(({ message_type }) => message_type.startsWith('USER_'))) return 'user'
  if (
    kinds.some(
      ({ message_type }) => message_type === 'FINAL_ANSWER' || message_type === 'INITIAL_PR_GENERATION',
    )
  )
    return 'answer'
  const [most] = kinds
  if (most?.message_type === 'PLAN_EVALUATION') return 'plan'
  if (most?.message_type !== 'ACTION') return 'other'
  const kind = toolKind(most.tool_name)
  return kind === 'edit' || kind === 'write' ? 'change' : kind === 'shell' ? 'command' : 'other'
}
