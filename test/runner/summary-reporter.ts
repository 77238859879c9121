import { relative } from 'node:path'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import { skippedLines } from './skipped-tests.ts'

type Outcome = { file: string; passed: number; skipped: number; failed: string[] }

/**
 * Prints `N passed, N failed` (and `, N skipped` when there are any) as the very last line, after teardown
 * too. A file that did not load and an error outside of tests count as one failure each: a red run never
 * prints `0 failed`. Of a file that ran twice the second run counts, and what had failed before is named. So
 * is what was skipped, with the command that runs it.
 */
export class SummaryReporter implements Reporter {
  private readonly files = new Map<string, Outcome>()
  private readonly failed_before: string[] = []
  private unhandled = 0

  onInit(): void {
    process.once('exit', code => {
      const files = [...this.files.values()]
      const sum = (of: (file: Outcome) => number) => files.reduce((total, file) => total + of(file), 0)
      const failed = sum(file => file.failed.length) + this.unhandled
      const skipped = sum(file => file.skipped)
      const failures = code !== 0 && failed === 0 ? 1 : failed
      if (this.failed_before.length > 0)
        process.stdout.write(
          `\nFailed beside others, and ran again alone:\n${this.failed_before.map(name => `  ${name}\n`).join('')}`,
        )
      process.stdout.write(skippedLines(files))
      process.stdout.write(
        `\n${sum(file => file.passed)} passed, ${failures} failed${skipped ? `, ${skipped} skipped` : ''}\n`,
      )
    })
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    this.unhandled += unhandled.length
    for (const module of modules) {
      this.failed_before.push(...(this.files.get(module.moduleId)?.failed ?? []))
      this.files.set(module.moduleId, outcomeOf(module))
    }
  }
}

function outcomeOf(module: TestModule): Outcome {
  const tests = [...module.children.allTests()].map(test => ({
    name: test.fullName,
    state: test.result().state,
  }))
  const failed = tests
    .filter(({ state }) => state !== 'passed' && state !== 'skipped')
    .map(({ name }) => name)
  if (failed.length === 0 && module.state() === 'failed') failed.push('the file itself')
  const file = relative(module.project.config.root, module.moduleId)
  return {
    file,
    passed: tests.filter(({ state }) => state === 'passed').length,
    skipped: tests.filter(({ state }) => state === 'skipped').length,
    failed: failed.map(name => `${file} > ${name}`),
  }
}
