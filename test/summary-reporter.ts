import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/**
 * Prints `N passed, N failed` (and `, N skipped` when there are any) as the very last line, after teardown too.
 * A file that did not load and an error outside of tests count as one failure each: a red run never says `0 failed`.
 */
export class SummaryReporter implements Reporter {
  private readonly count = { passed: 0, failed: 0, skipped: 0 }

  onInit(): void {
    process.once('exit', code => {
      const { passed, failed, skipped } = this.count
      const failures = code !== 0 && failed === 0 ? 1 : failed
      process.stdout.write(`\n${passed} passed, ${failures} failed${skipped ? `, ${skipped} skipped` : ''}\n`)
    })
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const states = modules.flatMap(module => [...module.children.allTests()].map(test => test.result().state))
    const broken = modules.filter(module => module.state() === 'failed' && ![...module.children.allTests('failed')].length)
    this.count.passed = states.filter(state => state === 'passed').length
    this.count.skipped = states.filter(state => state === 'skipped').length
    this.count.failed = states.length - this.count.passed - this.count.skipped + broken.length + unhandled.length
  }
}
