import { createVitest, parseCLI } from 'vitest/node'

/**
 * With TEST_REPEAT=1, at most this number of failed files run a second time. More failures than these are not
 * bad luck.
 */
const MAX_REPEATED_FILES = 5

/**
 * Runs Vitest once and sets the exit code. With TEST_REPEAT=1, which `.ci/run` sets because its machines are
 * shared, failed files run a second time, alone; the summary names what failed the first time, and each of
 * these is a defect to fix.
 */
export async function runTests(
  args: string[],
  files: { include?: string[]; exclude?: string[] },
): Promise<void> {
  process.env.NODE_ENV ??= 'test'
  Object.assign(process.env, { TEST: 'true', VITEST: 'true', MALLOC_ARENA_MAX: '2' })
  const { filter, options } = parseCLI(['vitest', 'run', ...args])
  const vitest = await createVitest({ ...options, watch: false, ...files })
  try {
    await vitest.start(filter)
    const failed = vitest.state.getTestModules().filter(module => !module.ok())
    const repeats =
      process.env.TEST_REPEAT === '1' && args.length === 0 && failed.length <= MAX_REPEATED_FILES
    if (!repeats || vitest.state.getUnhandledErrors().length > 0) return
    let unhandled = 0
    for (const { moduleId } of failed) {
      const { unhandledErrors } = await vitest.runTestSpecifications(vitest.getModuleSpecifications(moduleId))
      unhandled += unhandledErrors.length
    }
    const passed = vitest.state.getTestModules().every(module => module.ok())
    if (failed.length > 0 && passed && unhandled === 0) process.exitCode = 0
  } finally {
    await vitest.exit()
  }
}
