import { tmpdir } from 'node:os'
import { afterAll, test } from 'vitest'
import { startCluster } from '../cluster/start-cluster.ts'
import { engineProblem } from '../containers/start-engine.ts'
import { guaranteesOf } from '../every-guarantee.ts'

/** Words for a cluster that is there: docs/operations/kubernetes.md, Tests. */
const given = process.env.SANDBOX_TEST_CLUSTER

const problem = given === undefined ? await engineProblem('docker') : null

/** Every guarantee of a sandbox holds for a pod of Kubernetes. */
if (problem === null) {
  const cluster = given === undefined ? await startCluster(tmpdir()) : null
  afterAll(() => cluster?.[Symbol.asyncDispose]())
  guaranteesOf(given === undefined ? cluster?.of_tests : JSON.parse(given), 'in a pod of Kubernetes')
} else test.skip(`in a pod of Kubernetes: ${problem}`, () => {})
