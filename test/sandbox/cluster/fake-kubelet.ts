import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IPod } from 'kubernetes-models/v1/Pod'
import type { Engine } from './image.ts'
import {
  type Container,
  imageMounts,
  memoryFolders,
  NotStartedError,
  nodeFiles,
  type PodSpec,
  quantity,
  volumeMounts,
} from './node-mounts.ts'
import type { Store, StoredObject } from './store.ts'

export type NodeSettings = {
  name: string
  address: string
  /** Images that the node has, or can pull. */
  images: string[]
  /** Claim → folder of this machine. */
  claims: Record<string, string>
  allocatable: { cpu: number; memory: number }
  /** Of the kubelet's configuration: Kubernetes has no such bound for a single pod. */
  pod_pids_limit: number
  /** Name → path of profiles below the kubelet's seccomp folder. */
  seccomp_profiles: Record<string, string>
  /** Whether the cluster's network plug-in enforces NetworkPolicies. */
  enforces_policies: boolean
}

type StoredPod = StoredObject & IPod

/**
 * What this node can do for a pod. A field that is not here is one that it would silently not honour, so the
 * pod fails.
 */
const KNOWN = {
  pod: `activeDeadlineSeconds automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks hostIPC hostNetwork hostPID
    hostname nodeName restartPolicy securityContext serviceAccountName terminationGracePeriodSeconds volumes`,
  podSecurity: 'runAsGroup runAsNonRoot runAsUser seccompProfile sysctls',
  container: 'command env image imagePullPolicy name resources securityContext volumeMounts workingDir',
  containerSecurity: 'allowPrivilegeEscalation capabilities privileged readOnlyRootFilesystem',
  volumeMount: 'mountPath name readOnly subPath',
  volume: 'emptyDir name persistentVolumeClaim',
  emptyDir: 'medium sizeLimit',
}

/**
 * The node agent of a cluster with one node: it executes each pod as a container of `engine`, and reports its
 * status.
 */
export function startFakeKubelet(
  store: Store,
  engine: Engine,
  node: NodeSettings,
): AsyncDisposable & { containerOf(name: string): string | undefined } {
  const containers = new Map<string, Promise<string | null>>()
  const ids = new Map<string, string>()
  const folder = mkdtempSync(join(tmpdir(), 'kubelet-test-'))
  let at = 0
  const notify = (pod: StoredObject, status: object) =>
    void store.change(pod, { status: { hostIP: node.address, ...status } })
  const waiting = (pod: StoredObject, reason: string, message = '') =>
    notify(pod, {
      phase: 'Pending',
      containerStatuses: [{ name: 'sandbox', state: { waiting: { reason, message } } }],
    })

  const run = async (pod: StoredPod): Promise<string | null> => {
    const misfit = misfitOf(pod, node)
    if (misfit !== null) {
      notify(pod, { phase: 'Failed', ...misfit })
      return null
    }
    waiting(pod, 'ContainerCreating')
    try {
      const id = await createContainer(pod, store, engine, node, join(folder, pod.metadata.uid))
      ids.set(pod.metadata.name, id)
      const waited = engine('POST', `/containers/${id}/wait?condition=next-exit`)
      await engine('POST', `/containers/${id}/start`)
      notify(pod, { phase: 'Running', containerStatuses: [{ name: 'sandbox', state: { running: {} } }] })
      const deadline = setTimeout(() => void kill(id), (pod.spec?.activeDeadlineSeconds ?? 1e6) * 1000)
      void waited
        .then(async result => {
          const { State } = (await engine('GET', `/containers/${id}/json`)) as {
            State: { OOMKilled: boolean }
          }
          const exitCode = (result as { StatusCode: number }).StatusCode
          const reason =
            State.OOMKilled && exitCode === 137 ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error'
          const phase = exitCode === 0 ? 'Succeeded' : 'Failed'
          notify(pod, {
            phase,
            containerStatuses: [{ name: 'sandbox', state: { terminated: { exitCode, reason } } }],
          })
        })
        // It was removed meanwhile, and its pod with it.
        .catch(() => {})
        .finally(() => clearTimeout(deadline))
      return id
    } catch (error) {
      if (error instanceof NotStartedError) waiting(pod, error.reason, error.message)
      else waiting(pod, 'RunContainerError', String(error))
      return null
    }
  }
  const kill = (id: string) => engine('POST', `/containers/${id}/kill`).catch(() => {})
  const clear = async (pod: StoredObject) => {
    const id = await containers.get(pod.metadata.uid)
    if (id) await engine('DELETE', `/containers/${id}?force=true&v=true`).catch(() => {})
    ids.delete(pod.metadata.name)
    containers.delete(pod.metadata.uid)
  }
  const poll = () => {
    for (const { version, type, object } of store.since(at) ?? []) {
      at = version
      const pod = object as StoredPod
      if (pod.kind !== 'Pod' || pod.spec?.nodeName !== node.name) continue
      if (type === 'ADDED') containers.set(pod.metadata.uid, run(pod))
      else if (type === 'DELETED') void clear(pod)
      else if (pod.metadata.deletionTimestamp !== undefined && containers.has(pod.metadata.uid))
        void clear(pod).then(() => store.remove(pod))
    }
  }
  const leave = store.onNews(poll)
  poll()
  return {
    containerOf: name => ids.get(name),
    async [Symbol.asyncDispose]() {
      leave()
      await Promise.all(
        [...containers.values()].map(async container => {
          const id = await container
          if (id) await engine('DELETE', `/containers/${id}?force=true&v=true`).catch(() => {})
        }),
      )
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Why the node does not take the pod at all. */
function misfitOf(
  { spec }: StoredPod,
  { allocatable }: NodeSettings,
): { reason: string; message: string } | null {
  for (const { resources } of spec?.containers ?? []) {
    const cpu = quantity(resources?.requests?.cpu)
    if (cpu > allocatable.cpu)
      return {
        reason: 'OutOfcpu',
        message: `Pod was rejected: Node didn't have enough resource: cpu, requested: ${cpu}, capacity: ${allocatable.cpu}`,
      }
    const memory = quantity(resources?.requests?.memory)
    if (memory > allocatable.memory)
      return {
        reason: 'OutOfmemory',
        message: `Pod was rejected: Node didn't have enough resource: memory, requested: ${memory}, capacity: ${allocatable.memory}`,
      }
  }
  return null
}

async function createContainer(
  pod: StoredPod,
  store: Store,
  engine: Engine,
  node: NodeSettings,
  folder: string,
): Promise<string> {
  const { spec } = pod
  const container = spec?.containers[0]
  if (spec === undefined || container === undefined || spec.containers.length !== 1)
    throw new NotStartedError('CreateContainerConfigError', 'one container is what this node runs')
  onlyKnown(spec, container)
  if (!node.images.includes(container.image ?? ''))
    throw new NotStartedError(
      'ErrImagePull',
      `failed to pull and unpack image "${container.image}": not found`,
    )
  const user = spec.securityContext?.runAsUser ?? 0
  if (spec.securityContext?.runAsNonRoot && user === 0)
    throw new NotStartedError(
      'CreateContainerConfigError',
      'container has runAsNonRoot and image will run as root',
    )
  const { limits = {} } = container.resources ?? {}
  const memory = quantity(limits.memory)
  const own = container.securityContext ?? {}
  mkdirSync(folder, { mode: 0o755 })
  const closed = node.enforces_policies && isClosed(pod, store)
  const created = await engine('POST', `/containers/create?name=${pod.metadata.name}`, {
    Image: container.image,
    Entrypoint: container.command,
    WorkingDir: container.workingDir,
    Hostname: spec.hostname ?? pod.metadata.name,
    User: `${user}:${spec.securityContext?.runAsGroup ?? 0}`,
    // References in a variable's value are not resolved: only its escapes are read.
    Env: (container.env ?? []).map(({ name, value = '' }) => `${name}=${value.replaceAll('$$', () => '$')}`),
    HostConfig: {
      NetworkMode: closed ? 'none' : 'host',
      ...(closed && {
        Sysctls: Object.fromEntries(
          (spec.securityContext?.sysctls ?? []).map(({ name, value }) => [name, value]),
        ),
      }),
      ReadonlyRootfs: own.readOnlyRootFilesystem === true,
      CapDrop: own.capabilities?.drop ?? [],
      SecurityOpt: [
        ...(own.allowPrivilegeEscalation === false ? ['no-new-privileges'] : []),
        ...seccomp(spec, node),
      ],
      Memory: memory,
      MemorySwap: memory,
      NanoCpus: Math.round(quantity(limits.cpu) * 1e9),
      PidsLimit: node.pod_pids_limit,
      Tmpfs: memoryFolders(spec, container),
      Mounts: [
        ...imageMounts(),
        ...nodeFiles(spec, container, folder),
        ...volumeMounts(spec, container, node.claims),
      ],
      LogConfig: { Type: 'none' },
    },
  })
  return (created as { Id: string }).Id
}

function onlyKnown(spec: PodSpec, container: Container): void {
  const check = (where: keyof typeof KNOWN, object: object | undefined) => {
    const unknown = Object.keys(object ?? {}).find(name => !KNOWN[where].split(/\s+/).includes(name))
    if (unknown !== undefined)
      throw new NotStartedError(
        'CreateContainerConfigError',
        `this node cannot honour ${unknown} of the ${where}`,
      )
  }
  check('pod', spec)
  check('podSecurity', spec.securityContext)
  check('container', container)
  check('containerSecurity', container.securityContext)
  for (const mount of container.volumeMounts ?? []) check('volumeMount', mount)
  for (const volume of spec.volumes ?? []) {
    check('volume', volume)
    check('emptyDir', volume.emptyDir)
  }
  const wrong =
    spec.hostNetwork ||
    spec.hostPID ||
    spec.hostIPC ||
    spec.automountServiceAccountToken !== false ||
    spec.enableServiceLinks !== false
  if (wrong || spec.dnsPolicy !== 'None' || spec.restartPolicy !== 'Never')
    throw new NotStartedError('CreateContainerConfigError', 'this node cannot run such a pod')
}

/** Whether a policy of its namespace selects the pod and none allows it anything. */
function isClosed(pod: StoredPod, store: Store): boolean {
  type Policy = StoredObject & {
    spec?: {
      podSelector?: { matchLabels?: Record<string, string> }
      policyTypes?: string[]
      egress?: object[]
    }
  }
  const selecting = (store.all('NetworkPolicy', pod.metadata.namespace ?? '') as Policy[]).filter(
    ({ spec }) =>
      Object.entries(spec?.podSelector?.matchLabels ?? {}).every(
        ([name, value]) => pod.metadata.labels?.[name] === value,
      ),
  )
  const of_egress = selecting.filter(({ spec }) => spec?.policyTypes?.includes('Egress'))
  return of_egress.length > 0 && of_egress.every(({ spec }) => (spec?.egress ?? []).length === 0)
}

/** Without one that is named, the runtime takes its own. */
function seccomp(spec: PodSpec, node: NodeSettings): string[] {
  const { type, localhostProfile } = spec.securityContext?.seccompProfile ?? { type: 'Unconfined' }
  if (type === 'RuntimeDefault') return []
  const path = node.seccomp_profiles[localhostProfile ?? '']
  if (type !== 'Localhost' || path === undefined)
    throw new NotStartedError(
      'CreateContainerError',
      `cannot load seccomp profile "${localhostProfile}": no such file or directory`,
    )
  return [`seccomp=${readFileSync(path, 'utf8')}`]
}
