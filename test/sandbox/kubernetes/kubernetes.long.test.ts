import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { IPod } from 'kubernetes-models/v1/Pod'
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest'
import { ownerMark } from '../../../src/sandbox/kubernetes/remove-pods.ts'
import { type Sandbox, SandboxError, SandboxLostError } from '../../../src/sandbox/port.ts'
import { createOwnFolder } from '../../../src/system/own-folder.ts'
import { testFolder } from '../../temporary-folder.ts'
import { clusterDriver, type DriverOptions } from '../cluster/driver.ts'
import type { KubernetesObject } from '../cluster/schemas.ts'
import { type Cluster, startCluster } from '../cluster/start-cluster.ts'
import type { StoredObject } from '../cluster/store.ts'
import { engineProblem } from '../containers/start-engine.ts'
import { sandbox_user, startSandbox } from '../start-sandbox.ts'

const NAMESPACE = 'agentrun-sandboxes'
const folder = testFolder()
let cluster: Cluster
let next = 0

const makeDriver = (options: Partial<DriverOptions> = {}) =>
  clusterDriver(
    { ...cluster.of_tests, seccomp_profile: null },
    { user: sandbox_user, runtime_dir: join(folder, 'runtime'), ...options },
  )
const makeWorkspace = () => {
  const path = join(folder, `workspace-${++next}`)
  createOwnFolder(path, 0o700, sandbox_user)
  return path
}
const pods = () => cluster.api.store.all('Pod', NAMESPACE) as (StoredObject & IPod)[]
const onlyPod = () => {
  const [pod, ...more] = pods()
  if (pod === undefined || more.length > 0) throw new Error(`there are ${pods().length} pods`)
  return pod
}

describe.skipIf((await engineProblem('docker')) !== null)('a sandbox in a pod of Kubernetes', () => {
  beforeAll(async () => {
    cluster = await startCluster(folder)
  })
  afterAll(() => cluster[Symbol.asyncDispose]())
  afterEach(() => {
    const left = pods()
    for (const pod of left) cluster.api.store.remove(pod)
    expect(left.map(({ metadata, status }) => [metadata.name, status?.phase])).toEqual([])
  })

  it('runs commands, shows files and sockets of the host, and leaves nothing behind', async () => {
    const socket = join(folder, 'hello.sock')
    const server = createServer(connection => connection.end('hello')).listen(socket)
    await new Promise(resolve => server.once('listening', resolve))
    chmodSync(socket, 0o666)
    const shown = join(folder, 'shown')
    mkdirSync(shown, { recursive: true })
    const box = await startSandbox(makeDriver(), makeWorkspace(), {
      read_only: [{ host: shown, inside: '/shown' }],
      sockets: [{ host: socket, inside: '/run/hello.sock', port: 3128 }],
      environment: { GREETING: "it's $(HOME) $$here" },
    })
    expect((await box.shell('cd /tmp; echo "$GREETING"; touch /shown/x 2>&1')).text).toMatch(
      /^it's \$\(HOME\) \$\$here\n.*Read-only file system\n$/,
    )
    expect((await box.shell('pwd; exec 3<>/dev/tcp/127.0.0.1/3128; cat <&3')).text).toBe('/tmp\nhello')
    expect((await box.separate('echo file >made; id -un; hostname')).text).toBe('agent\nsandbox\n')
    expect(readFileSync(join(box.sandbox.workspace, 'made'), 'utf8')).toBe('file\n')
    const { name } = onlyPod().metadata
    expect(cluster.kubelet.containerOf(name)).toBeDefined()
    await box.sandbox.stop()
    expect(cluster.kubelet.containerOf(name)).toBeUndefined()
    server.close()
  })

  it('sends the cluster no variable of the run and no path beyond the volume', async () => {
    await using _box = await startSandbox(makeDriver(), makeWorkspace(), {
      environment: { TOKEN: 'a-secret-value' },
    })
    const pod = JSON.stringify(onlyPod())
    expect(pod).not.toContain('a-secret-value')
    expect(pod).not.toContain(folder)
  })

  it('proves by the self-test that pods are closed, and leaves nothing behind', async () => {
    expect(await makeDriver().selfTest()).toEqual({ ok: true })
    expect(readdirSync(join(folder, 'runtime')).filter(name => name.startsWith('self-test'))).toEqual([])
  })

  /** The same cluster with something changed, which is as before at the end. */
  async function meanwhile<T>(change: () => () => void, then: () => Promise<T>): Promise<T> {
    const restore = change()
    try {
      return await then()
    } finally {
      restore()
    }
  }
  const without = (kind: string, name: string) => () => {
    const object = cluster.api.store.find(kind, NAMESPACE, name)
    if (object === undefined) throw new Error(`there is no ${kind} ${name}`)
    cluster.api.store.remove(object)
    return () => void cluster.api.store.add(object)
  }
  const policy = (name: string, spec: object) => () => {
    const apiVersion = 'networking.k8s.io/v1'
    const added = cluster.api.store.add({
      apiVersion,
      kind: 'NetworkPolicy',
      metadata: { name, namespace: NAMESPACE },
      spec,
    } as KubernetesObject)
    return () => cluster.api.store.remove(added)
  }

  test.each([
    [
      'there is no policy',
      () => without('NetworkPolicy', 'agentrun-sandboxes-closed'),
      'has no NetworkPolicy agentrun-sandboxes-closed: apply',
    ],
    [
      'another policy opens what it closes',
      () => policy('for-a-debugger', { podSelector: {}, policyTypes: ['Egress'], egress: [{}] }),
      'the NetworkPolicy for-a-debugger of agentrun-sandboxes opens what',
    ],
    [
      'the network plug-in does not enforce policies',
      () => () => {
        cluster.node.enforces_policies = false
        return () => {
          cluster.node.enforces_policies = true
        }
      },
      'the API server of the cluster (127.0.0.1, port ',
    ],
    [
      'the worker has no role',
      () => without('RoleBinding', 'agentrun-worker'),
      'cannot list resource "networkpolicies"',
    ],
    [
      'the account of the sandboxes is missing',
      () => without('ServiceAccount', 'agentrun-sandbox'),
      'error looking up service account',
    ],
  ])('takes no work when %s, and reports it in one line', async (_name, change, reason) => {
    const result = await meanwhile(change(), () => makeDriver().selfTest())
    expect(result).toMatchObject({ ok: false, reason: expect.stringContaining(reason) })
    expect(result).toMatchObject({ reason: expect.stringMatching(/^[^\n]*$/) })
  })

  const quota = () => {
    const spec = { hard: { pods: '0' } }
    const added = cluster.api.store.add({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none', namespace: NAMESPACE },
      spec,
    } as KubernetesObject)
    return () => cluster.api.store.remove(added)
  }
  const nothing = () => () => {}
  test.each([
    [
      'its image cannot be had',
      { image: 'nobody/has:this' },
      nothing,
      'ErrImagePull: failed to pull and unpack image "nobody/has:this": not found',
    ],
    ['the runtime class is unknown', { runtime_class: 'gvisor' }, nothing, 'RuntimeClass "gvisor" not found'],
    [
      'the profile of system calls is not on the node',
      { seccomp_profile: 'missing.json' },
      nothing,
      'cannot load seccomp profile "missing.json"',
    ],
    [
      'the node can make no user namespaces',
      { user_namespaces: true },
      nothing,
      'this node cannot honour hostUsers',
    ],
    ['the quota is used up', {}, quota, 'exceeded quota: none'],
    [
      'the claim is another one',
      { claims: [{ name: 'other', root: folder }] },
      nothing,
      'nothing ran in it in time: the pod is ContainerCreating (kubectl get events',
    ],
    [
      'a path is not on the volume',
      { claims: [{ name: 'agentrun-data', root: join(folder, 'runtime') }] },
      nothing,
      'is on none of the volumes that pods can be shown: agentrun-data (',
    ],
    [
      'nobody hears of its node',
      { node: 'node-2' },
      nothing,
      'nothing ran in it in time: the pod is Pending',
    ],
  ])(
    'reports in one line why a sandbox cannot be started when %s, and leaves nothing behind',
    async (_name, pod, change, message) => {
      const starting = meanwhile(change, () =>
        startSandbox(makeDriver({ pod, start_timeout_ms: 2_000 }), makeWorkspace()),
      )
      const error: unknown = await starting.catch(error => error)
      expect(error).toBeInstanceOf(SandboxError)
      expect(error).toMatchObject({ message: expect.stringContaining(message) })
      expect(error).toMatchObject({ message: expect.stringMatching(/^[^\n]*$/) })
      expect(readdirSync(join(folder, 'runtime/pipes'))).toEqual([])
    },
  )

  it('reports which resources its node lacks', async () => {
    const starting = startSandbox(makeDriver(), makeWorkspace(), { limits: { cpus: 100 } })
    await expect(starting).rejects.toThrow(
      "OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu, requested: 100",
    )
  })

  const status = (fields: object) => (pod: StoredObject) =>
    void cluster.api.store.change(pod, { status: fields })
  test.each([
    ['deleted from outside', (pod: StoredObject) => cluster.api.store.remove(pod), 'the pod is gone'],
    [
      'evicted',
      status({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' }),
      'Evicted: The node was low',
    ],
    [
      'ended for its memory',
      status({
        phase: 'Failed',
        containerStatuses: [
          { name: 'sandbox', state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } },
        ],
      }),
      'its memory was used up (OOMKilled)',
    ],
  ])(
    'is lost immediately when its pod is %s, and the running command is notified',
    async (_name, happen, why) => {
      const box = await startSandbox(makeDriver(), makeWorkspace())
      const running = box.shell('sleep 1000', { timeout_ms: 60_000 }).catch(error => error)
      happen(onlyPod())
      const error = await running
      expect(error).toBeInstanceOf(SandboxLostError)
      expect(error.message).toContain(why)
      await box.sandbox.ended
    },
  )

  it('continues while the API server is unavailable', async () => {
    const box = await startSandbox(makeDriver(), makeWorkspace())
    for (let times = 0; times < 3; times++)
      cluster.api.disturb({ matches: ({ verb }) => verb === 'list' || verb === 'watch', status: 503 })
    cluster.api.cutWatches()
    expect((await box.shell('echo still here')).text).toBe('still here\n')
    await box.sandbox.stop()
  })

  /** A pod as a process of ours would have left it. */
  const leave = (name: string, labels: Record<string, string>) =>
    cluster.api.store.add({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: NAMESPACE, labels },
      spec: {},
    } as unknown as KubernetesObject)

  it('removes at its start the pods of killed processes of its data folder, and no others', async () => {
    leave('killed', { 'agentrun-folder': 'own', 'agentrun-owner': '1-0123456789abcdef' })
    const kept = [
      leave('mine', { 'agentrun-folder': 'own', 'agentrun-owner': ownerMark() }),
      leave('of-another-folder', { 'agentrun-folder': 'other', 'agentrun-owner': '1-0123456789abcdef' }),
      leave('of-somebody', {}),
    ]
    expect(await makeDriver({ folder_id: 'own' }).selfTest()).toEqual({ ok: true })
    expect(
      pods()
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(['mine', 'of-another-folder', 'of-somebody'])
    for (const pod of kept) cluster.api.store.remove(pod)
  })

  it('is ended by its name from another process, and a name of one that is gone or of another cluster does nothing', async () => {
    const box = await startSandbox(makeDriver(), makeWorkspace())
    const { identity } = box.sandbox as Sandbox & { identity: string }
    const other = makeDriver()
    await other.end(identity.replace(NAMESPACE, 'elsewhere'))
    await other.end(identity.replace(/\S+$/, crypto.randomUUID()))
    expect((await box.shell('echo alive')).text).toBe('alive\n')
    await other.end(identity)
    expect(pods()).toEqual([])
    await box.sandbox.ended
    await other.end(`${identity}\n${identity}`)
  })

  it('a call whose response was lost starts one pod, not two', async () => {
    cluster.api.disturb({ matches: ({ verb }) => verb === 'create', status: 0, done: true })
    const box = await startSandbox(makeDriver(), makeWorkspace())
    expect(pods()).toHaveLength(1)
    await box.sandbox.stop()
  })

  it('has its processes limited where the node does not, also while it is idle', async () => {
    await meanwhile(
      () => {
        const { pod_pids_limit } = cluster.node
        cluster.node.pod_pids_limit = 4_000
        return () => void Object.assign(cluster.node, { pod_pids_limit })
      },
      async () => {
        const box = await startSandbox(makeDriver(), makeWorkspace(), { limits: { max_processes: 64 } })
        const fork = `perl -e 'for (1 .. 500) { fork or do { sleep 1000; exit } } sleep 1000'`
        expect(await box.separate(fork, { timeout_ms: 25_000 })).toMatchObject({
          status: 'exited',
          exit_code: 137,
        })
        expect((await box.shell('echo alive')).text).toBe('alive\n')
        await box.sandbox.stop()
      },
    )
  })

  it('limits what the pod declares', async () => {
    const box = await startSandbox(makeDriver(), makeWorkspace(), {
      limits: { cpus: 0.5, max_memory_bytes: 300 * 1024 ** 2 },
    })
    const [container] = onlyPod().spec?.containers ?? []
    const bounds = { cpu: '500m', memory: String(300 * 1024 ** 2), 'ephemeral-storage': '64Mi' }
    expect(container?.resources).toEqual({ limits: bounds, requests: bounds })
    expect(
      (await box.shell(`perl -e 'my $a = "x" x (600 << 20); print "got", " it"' 2>&1`)).text,
    ).not.toContain('got it')
    expect(
      (await box.shell('df --output=size /tmp /home/agent | tail -n 2')).text.trim().split(/\s+/),
    ).toEqual(['65536', '65536'])
    await box.sandbox.stop()
  })
})
