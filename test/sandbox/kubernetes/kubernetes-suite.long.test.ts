import { tmpdir } from 'node:os'
import { afterAll, test } from 'vitest'
import { startCluster } from '../cluster/start-cluster.ts'
import { withoutEngine } from '../containers/start-engine.ts'
import { guaranteesOf } from '../every-guarantee.ts'

/** Words for a cluster that is there: docs/operations/kubernetes.md, Tests. */
const given = process.env.SANDBOX_TEST_CLUSTER

/** Every guarantee of a sandbox holds for a pod of Kubernetes: `npm run test:engines`, because it takes two minutes. */
if (process.env.TEST_ENGINES === '1' && (given !== undefined || withoutEngine('docker') === null)) {
  const cluster = given === undefined ? await startCluster(tmpdir()) : null
  afterAll(() => cluster?.[Symbol.asyncDispose]())
  guaranteesOf(given === undefined ? cluster?.of_tests : JSON.parse(given), 'in a pod of Kubernetes')
} else test.skip('every guarantee of a sandbox holds for a pod of Kubernetes')
