import { test } from 'vitest'
import { everyGuarantee } from './every-guarantee.ts'

/** As long as Docker's again: `npm run test:engines`. */
if (process.env.TEST_ENGINES === '1') await everyGuarantee('podman', 'in a container of Podman')
else test.skip('in a container of Podman: npm run test:engines', () => {})
