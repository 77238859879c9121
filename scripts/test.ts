import { createVitest, parseCLI } from 'vitest/node'

/**
 * Every test, and a second look at the few files that failed: alone, each after the other. Files run beside each other, and on a machine
 * that has too much to do at that moment one may fail that says nothing of the code. What fails alone too has failed; what does not is
 * named in the summary. More files than these, or an error outside of tests, are no bad moment. With arguments, those of Vitest: one look.
 */
const most_looked_at_again = 5

process.env.NODE_ENV ??= 'test'
Object.assign(process.env, { TEST: 'true', VITEST: 'true' })
const args = process.argv.slice(2)
const { filter, options } = parseCLI(['vitest', 'run', ...args])
const vitest = await createVitest({ ...options, watch: false })
try {
  await vitest.start(filter)
  const failed = vitest.state.getTestModules().filter(module => !module.ok())
  if (args.length === 0 && failed.length <= most_looked_at_again && vitest.state.getUnhandledErrors().length === 0) {
    let unhandled = 0
    for (const { moduleId } of failed) {
      const specifications = vitest.getModuleSpecifications(moduleId)
      const { unhandledErrors } = await vitest.runTestSpecifications(specifications)
      unhandled += unhandledErrors.length
    }
    const well = vitest.state.getTestModules().every(module => module.ok())
    if (failed.length > 0 && well && unhandled === 0) process.exitCode = 0
  }
} finally {
  await vitest.exit()
}
