import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RESERVE } from '../../../src/sandbox/containers/driver.ts'
import { seccompProfile } from '../../../src/sandbox/seccomp/seccomp-profile.ts'
import { startEngine } from '../containers/start-engine.ts'
import type { ClusterOfTests } from './driver.ts'
import { type FakeApi, startFakeApi } from './fake-api.ts'
import { type NodeSettings, startFakeKubelet } from './fake-kubelet.ts'
import { engineAt, importHollowImage } from './image.ts'
import { readManifests } from './manifests.ts'

export type Cluster = AsyncDisposable & {
  of_tests: ClusterOfTests
  api: FakeApi
  node: NodeSettings
  /** Of the container of a pod, for the engine. */
  kubelet: { containerOf(name: string): string | undefined }
}

const NODE = 'node-1'
const IMAGE = 'agentrun-sandbox:0.1.0'
const PROFILE = 'agentrun.json'

/**
 * A cluster of one node with our manifests in it. `root`: the folder of this machine that the claim is.
 * `agents`: the image has their programs.
 */
export async function startCluster(root: string, agents: Record<string, string> = {}): Promise<Cluster> {
  await using stack = new AsyncDisposableStack()
  const files = mkdtempSync(join(tmpdir(), 'node-test-'))
  stack.defer(() => rmSync(files, { recursive: true, force: true }))
  const profile = join(files, PROFILE)
  writeFileSync(profile, seccompProfile())
  const objects = readManifests().map(({ file, ...object }) => object)
  const api = stack.use(await startFakeApi(objects, { name: 'agentrun-worker', namespace: 'agentrun' }))
  const engine = engineAt(stack.use(await startEngine('docker')).socket)
  await importHollowImage(engine, IMAGE, agents)
  const node: NodeSettings = {
    name: NODE,
    address: '127.0.0.1',
    images: [IMAGE],
    claims: { 'agentrun-data': root },
    allocatable: { cpu: 64, memory: 1024 ** 4 },
    // As many as the sandboxes of these tests may have.
    pod_pids_limit: 128 + RESERVE,
    seccomp_profiles: { [PROFILE]: profile },
    enforces_policies: true,
  }
  const kubelet = stack.use(startFakeKubelet(api.store, engine, node))
  const running = stack.move()
  const access = { ...api.access, server: api.access.server.href }
  return {
    of_tests: { name: 'kubernetes', access, root, node: NODE, image: IMAGE, seccomp_profile: PROFILE },
    api,
    node,
    kubelet,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
