import type { FailedTest } from './finding.ts'
import { compiledRunners } from './runners/compiled.ts'
import { javascriptRunners } from './runners/javascript.ts'
import { pythonRunners } from './runners/python.ts'
import { scriptingRunners } from './runners/scripting.ts'

const runners = [...javascriptRunners, ...pythonRunners, ...compiledRunners, ...scriptingRunners]

/** Returns the failed tests by the runner that lists most of them. Null: no known runner. */
export function failingTests(lines: readonly string[]): { runner: string; tests: FailedTest[] } | null {
  const read = runners
    .map(({ name, read }) => ({ runner: name, tests: read(lines) }))
    .filter(({ tests }) => tests.length > 0)
  return read.toSorted((a, b) => b.tests.length - a.tests.length)[0] ?? null
}
