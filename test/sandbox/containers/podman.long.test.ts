import { test } from 'vitest'
import { everyGuarantee } from '../every-guarantee.ts'

/** Takes as long as the tests of Docker: `npm run test:engines`. */
if (process.env.TEST_ENGINES === '1') await everyGuarantee('podman', 'in a container of Podman')
else test.skip('in a container of Podman: npm run test:engines', () => {})
