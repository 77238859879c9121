import { defineConfig } from 'vitest/config'
import { SlowestFirst } from './test/runner/slowest-first.ts'
import { SummaryReporter } from './test/runner/summary-reporter.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'web/src/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    pool: 'forks',
    // Files share a process, because loading the service for each of them takes a third of the time: no test
    // changes a module or `process.env`.
    isolate: false,
    // Each fork of a large process is slow, and a smaller young generation is collected so often that tests
    // take a tenth more processor time.
    execArgv: ['--max-semi-space-size=16'],
    // A file keeps a processor busy for some two thirds of its time, so that three at once are enough for two
    // of them.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', new SummaryReporter()],
  },
})
