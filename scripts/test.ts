import { runTests } from './run-tests.ts'

/**
 * `npm test`: what a change must not break. With arguments, those of Vitest: files by name, long ones too.
 */
const args = process.argv.slice(2)
await runTests(args, args.length === 0 ? { exclude: ['**/*.long.test.ts'] } : {})
