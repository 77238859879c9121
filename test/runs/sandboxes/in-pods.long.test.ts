import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitUntil } from '../../../src/system/processes.ts'
import { programFolder } from '../../agents/program-app.ts'
import { GEMINI, installAgent } from '../../agents/real-agents.ts'
import { type Cluster, startCluster } from '../../sandbox/cluster/start-cluster.ts'
import { engineProblem } from '../../sandbox/containers/start-engine.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { IN_IMAGE, playProgram, playRealAgent } from './agents-on-a-driver.ts'
import { killAndGoOn, playRun } from './on-a-driver.ts'

/** The service with its sandboxes in pods, from a run's creation to its branch. */
describe.skipIf((await engineProblem('docker')) !== null)('runs in pods of Kubernetes', () => {
  let cluster: Cluster
  const folders: ReturnType<typeof temporaryFolder>[] = []
  /**
   * `data_dir`: a new folder; the namespace of the sandboxes has claims for four parts of it, as in
   * deploy/kubernetes/volumes.yaml.
   */
  const env = () => {
    // Short, because the sockets in it have names of at most 107 bytes.
    const folder = temporaryFolder()
    folders.push(folder)
    const data_dir = join(folder.path, 'data')
    const parts = ['workspaces', 'sandbox', 'mirrors', 'checkpoints']
    cluster.node.claims = Object.fromEntries(
      parts.map(part => [`agentrun-data-${part}`, join(data_dir, part)]),
    )
    const { access, node, image, seccomp_profile } = cluster.of_tests
    const { hostname, port } = new URL(access.server)
    return {
      AGENTRUN_SANDBOX: 'kubernetes',
      AGENTRUN_DATA_DIR: data_dir,
      // The image of these tests is in no registry, so it has no digest.
      AGENTRUN_SANDBOX_IMAGE: image,
      AGENTRUN_KUBERNETES_UNPINNED_IMAGE: '1',
      AGENTRUN_KUBERNETES_SECCOMP: seccomp_profile ?? '',
      AGENTRUN_SANDBOX_START_SECONDS: '30',
      AGENTRUN_KUBERNETES_NODE: node,
      AGENTRUN_KUBERNETES_CLAIM: 'agentrun-data',
      AGENTRUN_KUBERNETES_ACCOUNT: dirname(access.token_file),
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
    }
  }
  const pods = () => cluster.api.store.all('Pod', 'agentrun-sandboxes')
  beforeAll(async () => {
    cluster = await startCluster(tmpdir(), {
      program: programFolder('.', 'program.mjs'),
      gemini: await installAgent(GEMINI),
    })
  }, 120_000)
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]()
    for (const folder of folders) folder[Symbol.dispose]()
  })

  test('a run changes files, keeps its shell, reaches its proxy and ends with a branch', async () => {
    await playRun('kubernetes', env(), () => pods().length === 0)
  }, 60_000)

  test('an agent of another vendor works in a pod up to a pull request, with its programs in the image, and the key of its model is not in it', async () => {
    await playProgram(env(), IN_IMAGE)
    await playRealAgent(GEMINI, env(), IN_IMAGE)
  }, 120_000)

  test('kill -9 of the worker ends its pods, and the next one removes the remains from the cluster and continues', async () => {
    let killed: string[] = []
    const over = () =>
      pods().every(pod =>
        ['Failed', 'Succeeded'].includes((pod as { status?: { phase?: string } }).status?.phase ?? ''),
      )
    await killAndGoOn(env(), {
      atWork: () => pods().length === 2,
      async killed() {
        killed = pods().map(({ metadata }) => metadata.name)
        expect(await waitUntil(over, 10_000)).toBe(true)
      },
      wentOn() {
        expect(pods().filter(({ metadata }) => killed.includes(metadata.name))).toEqual([])
      },
    })
  }, 180_000)
})
