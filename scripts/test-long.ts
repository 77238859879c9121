import { runTests } from './run-tests.ts'

/**
 * `npm run test:long`: what is exhaustive or random at length, in files named `.long.test.ts`. TEST_SOAK=1
 * makes the faults longer still: thousands of kills, long outages, huge data; minutes of killing by
 * TEST_SOAK_MINUTES (default 10), another order of events by TEST_SEED. It also sends 100,000 hostile
 * requests to one process. The results of the last one are in docs/chaos.json and
 * docs/hostile-requests.json.
 */
await runTests(process.argv.slice(2), { include: ['src/**/*.long.test.ts', 'test/**/*.long.test.ts'] })
