import { isAbsolute, relative } from 'node:path'
import type { ContainerSpec } from '../containers/engine.ts'
import { SandboxError } from '../port.ts'
import type { PodDocument, PodSpec, Volume, VolumeMount } from './pod.ts'

/** The settings that all pods of this worker share. */
export type PodSettings = {
  /** The worker's own node: pipes and sockets connect processes of one kernel only. */
  node: string
  /** The volumes that pods can mount; no other part of the data folder is on a claim of their namespace. */
  claims: Claim[]
  image: string
  /** A runtime class of the cluster; null: its default. */
  runtime_class: string | null
  /**
   * A profile below the kubelet's seccomp folder; null: the one of the container runtime, which permits more
   * system calls.
   */
  seccomp_profile: string | null
  user_namespaces: boolean
}

/**
 * Host paths are the worker's, on one of the claims. The process limit is set per node, because Kubernetes
 * has none for a pod.
 */
type PodInput = Omit<ContainerSpec, 'max_open_files'> & { name: string; labels: Record<string, string> }

/** The service account of the sandboxes in their namespace: it has no role. */
const SERVICE_ACCOUNT = 'agentrun-sandbox'
/** Longer than any run may take; the last resort when nothing else ends the pod. */
const LAST_SECONDS = 8 * 86_400
/** Nothing is written there, because the root is read-only: it is for the runtime itself. */
const OWN_STORAGE = '64Mi'

/**
 * Returns the pod of one sandbox. It satisfies the pod security standard "restricted". Throws SandboxError
 * for a path outside all claims.
 */
export function podDocument(settings: PodSettings, input: PodInput): PodDocument {
  const { bounds } = input
  const memory = [...input.memory_folders, { inside: '/dev/shm', bytes: input.shared_memory_bytes }].map(
    (folder, index) => ({
      ...folder,
      name: `memory-${index}`,
    }),
  )
  const resources = {
    cpu: `${Math.ceil(bounds.cpus * 1000)}m`,
    memory: String(bounds.max_memory_bytes),
    'ephemeral-storage': OWN_STORAGE,
  }
  const volumeOf = (claim: Claim) => `data-${settings.claims.indexOf(claim)}`
  const mounts = input.mounts.map(mount => ({ ...mount, ...findOnClaims(settings.claims, mount.host) }))
  const shown = mounts.map(
    ({ inside, writable, claim, sub_path }): VolumeMount => ({
      name: volumeOf(claim),
      mountPath: inside,
      subPath: sub_path,
      readOnly: !writable,
    }),
  )
  const claims = [...new Set(mounts.map(({ claim }) => claim))]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: input.name, labels: input.labels },
    spec: {
      ...walls(settings, input.user),
      containers: [
        {
          name: 'sandbox',
          image: settings.image,
          imagePullPolicy: 'IfNotPresent',
          command: input.command,
          workingDir: '/workspace',
          env: Object.entries(input.environment).map(([name, value]) => ({
            name,
            value: escapeReferences(value),
          })),
          resources: { limits: resources, requests: resources },
          securityContext: {
            privileged: false,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [...memory.map(({ name, inside }) => ({ name, mountPath: inside })), ...shown],
        },
      ],
      volumes: [
        ...claims.map(
          (claim): Volume => ({ name: volumeOf(claim), persistentVolumeClaim: { claimName: claim.name } }),
        ),
        ...memory.map(
          ({ name, bytes }): Volume => ({ name, emptyDir: { medium: 'Memory', sizeLimit: String(bytes) } }),
        ),
      ],
    },
  }
}

function walls(settings: PodSettings, user: ContainerSpec['user']): Omit<PodSpec, 'containers' | 'volumes'> {
  const { runtime_class, seccomp_profile } = settings
  return {
    nodeName: settings.node,
    ...(runtime_class !== null && { runtimeClassName: runtime_class }),
    restartPolicy: 'Never',
    activeDeadlineSeconds: LAST_SECONDS,
    // With 0 the API forgets a pod before its processes are gone.
    terminationGracePeriodSeconds: 1,
    serviceAccountName: SERVICE_ACCOUNT,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    hostNetwork: false,
    hostPID: false,
    hostIPC: false,
    ...(settings.user_namespaces && { hostUsers: false as const }),
    hostname: 'sandbox',
    // No name server, not even that of the cluster.
    dnsPolicy: 'None',
    dnsConfig: { nameservers: ['127.0.0.1'] },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user.uid,
      runAsGroup: user.gid,
      // Lower ports need privileges, as on any machine.
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '1024' }],
      seccompProfile:
        seccomp_profile === null
          ? { type: 'RuntimeDefault' }
          : { type: 'Localhost', localhostProfile: seccomp_profile },
    },
  }
}

/** Kubernetes expands `$(NAME)` in a value as a variable, and `$$` to one dollar. */
const escapeReferences = (value: string) => value.replaceAll('$', () => '$$')

/** A volume that worker and sandboxes share. `root`: where the worker has mounted it. */
type Claim = { name: string; root: string }

/**
 * Returns the claim that contains a path of the worker, and the path on its volume. Throws SandboxError for a
 * path outside all claims, which cannot be mounted into a pod.
 */
function findOnClaims(claims: Claim[], path: string): { claim: Claim; sub_path: string } {
  for (const claim of claims) {
    const sub_path = relative(claim.root, path)
    if (sub_path !== '' && sub_path !== '..' && !sub_path.startsWith('../') && !isAbsolute(sub_path))
      return { claim, sub_path }
  }
  const volumes = claims.map(({ name, root }) => `${name} (${root})`).join(', ')
  throw new SandboxError(`${path} is on none of the volumes that pods can be shown: ${volumes}`)
}
