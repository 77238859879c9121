import { tmpdir } from 'node:os'
import { afterAll, describe, test } from 'vitest'
import { startCluster } from './cluster/start-cluster.ts'
import { withoutEngine } from './start-engine.ts'

/** Words for a cluster that is there: docs/operations/kubernetes.md, Tests. */
const given = process.env.SANDBOX_TEST_CLUSTER

/** Every guarantee of a sandbox holds for a pod of Kubernetes: `npm run test:engines`, because it takes two minutes. */
if (process.env.TEST_ENGINES === '1' && (given !== undefined || withoutEngine('docker') === null)) {
  const cluster = given === undefined ? await startCluster(tmpdir()) : null
  process.env.SANDBOX_TEST_ENGINE = given ?? JSON.stringify(cluster?.of_tests)
  afterAll(() => cluster?.[Symbol.asyncDispose]())
  for (const name of ['commands', 'files', 'hostile', 'isolation', 'lifecycle', 'limits', 'sockets', 'workspaces', 'resources']) {
    describe(`in a pod of Kubernetes: ${name}`, async () => {
      await import(`./${name}.test.ts`)
    })
  }
} else test.skip('every guarantee of a sandbox holds for a pod of Kubernetes')
