import { diffArrays } from 'diff'
import type { LogEntry } from '../../../../src/contract/runs/logs.ts'
import { callFailed, entrySummary } from '../../trace/entry-summary.ts'

/** A tool call as the comparison shows it. */
export type Step = {
  seq: number
  label: string
  line: string
  failed: boolean
  tool: string
  duration_ms: number | null
}

/** Two steps that correspond to each other; null: the other run has none here. */
export type StepPair = { a: Step | null; b: Step | null }

/** Runs that differ in more steps are paired by their order. Comparing takes steps times differences. */
const MAX_DIFFERENCES = 400

export const stepsOf = (entries: LogEntry[]): Step[] =>
  entries.map(entry => {
    const { label, line } = entrySummary(entry)
    return {
      seq: entry.seq,
      label,
      line,
      failed: callFailed(entry.tool_output),
      tool: entry.tool_name ?? '',
      duration_ms: entry.duration_ms,
    }
  })

const keyOf = ({ tool, line }: Step) => `${tool} ${line}`

/** Aligns the steps of two runs: the same tool with the same input corresponds. */
export function alignSteps(a: Step[], b: Step[]): StepPair[] {
  const changes = diffArrays(a.map(keyOf), b.map(keyOf), { maxEditLength: MAX_DIFFERENCES })
  if (changes === undefined)
    return Array.from({ length: Math.max(a.length, b.length) }, (_, at) => ({
      a: a[at] ?? null,
      b: b[at] ?? null,
    }))
  const pairs: StepPair[] = []
  let [at_a, at_b] = [0, 0]
  for (const { added, removed, value } of changes) {
    for (const _ of value)
      pairs.push({ a: added ? null : (a[at_a++] ?? null), b: removed ? null : (b[at_b++] ?? null) })
  }
  return pairs
}

export const isSame = ({ a, b }: StepPair): boolean =>
  a !== null && b !== null && keyOf(a) === keyOf(b) && a.failed === b.failed

/**
 * The position of the first pair that differs: another step, or the same one with another outcome. -1: none
 * does.
 */
export const firstDivergence = (pairs: StepPair[]): number => pairs.findIndex(pair => !isSame(pair))

/** How often each run called each tool, most frequent first. */
export function callsPerTool(a: Step[], b: Step[]): { tool: string; a: number; b: number }[] {
  const tools = [...new Set([...a, ...b].map(({ tool }) => tool))]
  const count = (steps: Step[], tool: string) => steps.filter(step => step.tool === tool).length
  return tools
    .map(tool => ({ tool, a: count(a, tool), b: count(b, tool) }))
    .sort((x, y) => y.a + y.b - x.a - x.b)
}
