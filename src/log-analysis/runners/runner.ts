import type { FailedTest } from '../finding.ts'

/** Reads what one kind of test runner prints. Answers nothing for the output of any other. */
export type Runner = { name: string; read(lines: readonly string[]): FailedTest[] }

/** A place as the runner printed it, without brackets and `file://`. */
export const place = (text: string): string => text.replace(/^\(?(?:file:\/\/)?/, '').replace(/\)$/, '')

/** The first line among the `most` after `from` that the pattern finds, as what it caught first. */
export function nextPlace(
  lines: readonly string[],
  from: number,
  most: number,
  pattern: RegExp,
  until: RegExp | null = null,
): string | null {
  for (const line of lines.slice(from + 1, from + 1 + most)) {
    if (until?.test(line)) return null
    const found = pattern.exec(line)
    if (found && !line.includes('node_modules') && !line.includes('node:internal')) return place(found[1] ?? '')
  }
  return null
}

/** Each test once; a runner that tells of it twice has said the place at least once. */
export function once(tests: readonly FailedTest[]): FailedTest[] {
  const known = new Map<string, FailedTest>()
  for (const { name, location } of tests) {
    const before = known.get(name)
    known.set(name, { name, location: before?.location ?? location })
  }
  return [...known.values()]
}
