import type { FailedTest } from '../finding.ts'

/** Parses the output of one kind of test runner. Returns nothing for the output of any other. */
export type Runner = { name: string; read(lines: readonly string[]): FailedTest[] }

/** Normalizes a location that the runner printed: without brackets and `file://`. */
export const toLocation = (text: string): string => text.replace(/^\(?(?:file:\/\/)?/, '').replace(/\)$/, '')

/** Returns the first capture of the first match among the `max` lines after `from`. */
export function nextLocation(
  lines: readonly string[],
  from: number,
  max: number,
  pattern: RegExp,
  until: RegExp | null = null,
): string | null {
  for (const line of lines.slice(from + 1, from + 1 + max)) {
    if (until?.test(line)) return null
    const found = pattern.exec(line)
    if (found && !line.includes('node_modules') && !line.includes('node:internal'))
      return toLocation(found[1] ?? '')
  }
  return null
}

/** Returns each test once; a runner that lists it twice prints the location at least once. */
export function once(tests: readonly FailedTest[]): FailedTest[] {
  const known = new Map<string, FailedTest>()
  for (const { name, location } of tests) {
    const before = known.get(name)
    known.set(name, { name, location: before?.location ?? location })
  }
  return [...known.values()]
}
