import { randomBytes } from 'node:crypto'
import type { Container, ContainerEngine } from '../containers/engine.ts'
import { SandboxError } from '../port.ts'
import { no_usage } from '../resources/bounds.ts'
import { ApiError, type KubernetesApi } from './api.ts'
import { followPods, type PodFollower } from './follow-pods.ts'
import { policyFault } from './network-policy.ts'
import { Pod } from './pod.ts'
import { type PodSettings, podDocument } from './pod-document.ts'
import { podState } from './pod-state.ts'
import { FOLDER_LABEL, OWNER_LABEL, ownerMark, removeLeftovers, removePod } from './remove-pods.ts'

type Cluster = {
  api: KubernetesApi
  namespace: string
  pod: PodSettings
  /** Identifies the data folder for every process that uses it. */
  folder_id: string
  /** Timeout for the creation of a pod by the API. */
  start_timeout_ms: number
}

type KubernetesEngine = ContainerEngine & {
  /** The address of the node, once a pod of this service has run on it. */
  nodeAddress(): string | null
}

/**
 * Timeout for a node to end a pod, and for the API to report it. Process 1 has ended before, with the host's
 * end of its pipe.
 */
const END_MS = 30_000

/**
 * Creates the engine for sandboxes as pods on the worker's own node, on the volume of its data folder. A pod
 * that is deleted, evicted or ended by its node has ended: its processes end with their pipe.
 */
export function kubernetesEngine(cluster: Cluster): KubernetesEngine {
  const { api, namespace, folder_id } = cluster
  const pods = `/api/v1/namespaces/${namespace}/pods`
  const labels: Record<string, string> = {
    'app.kubernetes.io/name': 'agentrun-sandbox',
    [FOLDER_LABEL]: folder_id,
    [OWNER_LABEL]: ownerMark(),
  }
  const selector = [FOLDER_LABEL, OWNER_LABEL].map(name => `${name}=${labels[name]}`).join(',')
  const follower = followPods(api, `${pods}?labelSelector=${encodeURIComponent(selector)}`)
  let address: string | null = null
  let cleared: Promise<void> | null = null
  const clear = () => {
    cleared ??= removeLeftovers(api, pods, folder_id, AbortSignal.timeout(END_MS)).catch(error => {
      cleared = null
      throw error
    })
    return cleared
  }
  return {
    name: 'kubernetes',
    // The kubelet has one process limit for all pods of a node, if any.
    watched_from_inside: true,
    nodeAddress: () => address,
    async prepare() {
      try {
        const fault = await policyFault(api, namespace)
        if (fault !== null) throw new SandboxError(fault)
        await clear()
      } catch (error) {
        throw asSandboxError(error)
      }
    },
    async start(spec) {
      const name = `agentrun-${randomBytes(8).toString('hex')}`
      const document = podDocument(cluster.pod, { ...spec, name, labels })
      const followed = followOne(follower, name, pod => {
        address = pod.status?.hostIP ?? address
      })
      try {
        await clear()
        const pod = await createPod(api, pods, document, AbortSignal.timeout(cluster.start_timeout_ms))
        followed.created()
        return containerOf(
          pod,
          followed,
          which => removePod(api, `${pods}/${name}`, which, AbortSignal.timeout(END_MS)),
          namespace,
        )
      } catch (error) {
        followed.leave()
        throw asSandboxError(error)
      }
    },
    async end(identity) {
      const [, its_namespace = '', name = '', uid = ''] = /^pod ([^/]+)\/(\S+) (\S+)$/.exec(identity) ?? []
      if (its_namespace === namespace)
        await removePod(api, `${pods}/${name}`, { uid }, AbortSignal.timeout(END_MS))
    },
  }
}

/**
 * The pod may exist already: the response to the first of two calls was lost. Nothing else creates such a
 * name.
 */
async function createPod(
  api: KubernetesApi,
  pods: string,
  document: { metadata: { name: string } },
  signal: AbortSignal,
): Promise<Pod> {
  try {
    return await api.call('POST', pods, { schema: Pod, body: document, signal })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.reason === 'AlreadyExists')
      return api.call('GET', `${pods}/${document.metadata.name}`, { schema: Pod, signal })
    // It is unknown whether the pod was created.
    if (error.status === 0 || error.status >= 500) await forget(api, `${pods}/${document.metadata.name}`)
    throw error
  }
}

/** If the API is unavailable now, the next start removes the pod. */
async function forget(api: KubernetesApi, path: string): Promise<void> {
  const signal = AbortSignal.timeout(5_000)
  await api.call('GET', path, { schema: Pod, signal }).then(
    ({ metadata }) => removePod(api, path, metadata, signal),
    () => {},
  )
}

type FollowedPod = { created(): void; leave(): void; latest(): Pod | null | undefined; over: Promise<string> }

/**
 * `over` resolves, with one line, when nothing of the pod runs; `latest` is undefined before the first
 * report.
 */
function followOne(follower: PodFollower, name: string, see: (pod: Pod) => void): FollowedPod {
  const { promise: over, resolve } = Promise.withResolvers<string>()
  let latest: Pod | null | undefined
  const following = follower.follow(name, pod => {
    const before = latest
    latest = pod
    if (pod !== null) see(pod)
    const state = podState(pod)
    // For a deleted pod its last state counts, if there was one.
    const last = before ? podState(before) : state
    if (state.is === 'over') resolve(last.is === 'over' ? last.why : state.why)
  })
  return { ...following, latest: () => latest, over }
}

type Which = { uid: string; known_to_node: boolean }

function containerOf(
  pod: Pod,
  followed: FollowedPod,
  remove: (which: Which) => Promise<void>,
  namespace: string,
): Container {
  let stopped: Promise<void> | undefined
  const { promise: gone, resolve } = Promise.withResolvers<string>()
  const stop = async () => {
    const latest = followed.latest() ?? pod
    const { is, why } = podState(followed.latest() === null ? null : latest)
    await remove({ uid: pod.metadata.uid, known_to_node: latest.status?.hostIP !== undefined }).catch(
      () => {},
    )
    followed.leave()
    resolve(
      is === 'over'
        ? await followed.over
        : `nothing ran in it in time: ${why} (kubectl get events -n ${namespace} may show more)`,
    )
  }
  const stopOnce = () => {
    stopped ??= stop()
    return stopped
  }
  void followed.over.then(stopOnce)
  return {
    pid: 0,
    identity: `pod ${namespace}/${pod.metadata.name} ${pod.metadata.uid}`,
    usage: () => no_usage,
    stop: stopOnce,
    ended: gone,
  }
}

const asSandboxError = (error: unknown) =>
  error instanceof SandboxError
    ? error
    : new SandboxError(error instanceof Error ? error.message.replace(/\s+/g, ' ') : String(error))
