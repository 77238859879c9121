import { type RunAnalysis, ranked } from './analyze-run.ts'
import { type Finding, finding } from './finding.ts'
import { flaky } from './patterns.ts'

const MAX_FINDINGS = 100
const MAX_RUNS_NAMED = 20

/**
 * Combines the findings of several runs: the same failure of many is one finding, and what failed in one and
 * passed in another on the same files is flaky.
 */
export function analyzeRuns(analyses: readonly RunAnalysis[]): Finding[] {
  const [only] = analyses
  if (analyses.length === 1 && only) return only.findings.slice(0, MAX_FINDINGS)
  const clusters = new Map<string, Finding[]>()
  for (const { findings } of analyses)
    for (const one of findings) {
      if (one.code === 'slowest_steps' || one.code === 'flaky') continue
      const key = `${one.severity} ${failureSignature(one)}`
      clusters.set(key, [...(clusters.get(key) ?? []), one])
    }
  const merged = [...clusters.values()].flatMap(cluster)
  const across = flaky(analyses.flatMap(({ ran }) => ran))
  return [...often(ranked(merged)), ...across, ...slowest(analyses)].slice(0, MAX_FINDINGS)
}

function cluster(found: readonly Finding[]): Finding[] {
  const [first, ...others] = found
  if (first === undefined) return []
  const elsewhere = [...new Set(others.map(({ agent_run_id }) => agent_run_id))].filter(
    id => id !== first.agent_run_id,
  )
  const runs = elsewhere.length + 1
  return [
    {
      ...first,
      message: runs > 1 ? `${first.message} (in ${runs} runs)` : first.message,
      count: found.reduce((sum, { count }) => sum + count, 0),
      agent_run_ids: elsewhere.slice(0, MAX_RUNS_NAMED),
    },
  ]
}

/** Sorts errors so that the most frequent ones come first. */
function often(findings: readonly Finding[]): Finding[] {
  const runs = ({ agent_run_ids }: Finding) => agent_run_ids.length
  return ['error', 'warning', 'info'].flatMap(severity => {
    const same = findings.filter(one => one.severity === severity)
    // Findings of the same frequency keep the order of their runs: consequences stay behind their cause.
    return same.toSorted((a, b) => runs(b) - runs(a))
  })
}

function slowest(analyses: readonly RunAnalysis[]): Finding[] {
  const found = analyses.flatMap(({ findings }) => findings.filter(({ code }) => code === 'slowest_steps'))
  return found.slice(0, 3).map(one => finding({ ...one, message: `Run ${one.agent_run_id}: ${one.message}` }))
}

const CHARACTERS = 300

/** Removes what differs between runs with the same failure: times, ids, addresses, numbers and folders. */
function normalized(text: string): string {
  return text
    .slice(0, 1_000)
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>')
    .replace(/\b(?:0x[0-9a-f]{1,16}|[0-9a-f]{7,64}(?=\b))/gi, hex => (/\d/.test(hex) ? '<hex>' : hex))
    .replace(/(?:\/[\w.@+-]{1,100}){2,30}\/?/g, path => `…/${path.replace(/\/$/, '').split('/').at(-1)}`)
    .replace(/\d+(?:\.\d+)?/g, '<n>')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, CHARACTERS)
}

/** Returns a digest that is equal for the same failure in another run. */
function failureSignature({ code, message, excerpt, tests, command }: Finding): string {
  if (code === 'failing_tests')
    return `${code} ${tests
      .map(({ name }) => normalized(name))
      .toSorted()
      .slice(0, 10)
      .join(' | ')}`
  const about =
    code === 'command_failed'
      ? normalized(`${command} ${excerpt?.split('\n').at(-1) ?? ''}`)
      : normalized(message)
  return `${code} ${about}`
}
