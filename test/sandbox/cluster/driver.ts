import { createHash } from 'node:crypto'
import { createKubernetesDriver } from '../../../src/sandbox/kubernetes/kubernetes.ts'
import type { PodSettings } from '../../../src/sandbox/kubernetes/pod-document.ts'
import type { SandboxDriver } from '../../../src/sandbox/port.ts'
import type { SystemUser } from '../../../src/system/users.ts'

/**
 * A cluster that tests run on, as words that another process can be given. `root`: the folder of this machine
 * that the claim is.
 */
export type ClusterOfTests = {
  name: 'kubernetes'
  access: { server: string; ca_file: string; token_file: string }
  root: string
  node: string
  image: string
  seccomp_profile: string | null
}

export type DriverOptions = {
  user: SystemUser | null
  runtime_dir: string
  pod?: Partial<PodSettings>
  start_timeout_ms?: number
  folder_id?: string
}

export function clusterDriver(
  { access, root, node, image, seccomp_profile }: ClusterOfTests,
  options: DriverOptions,
): SandboxDriver {
  return createKubernetesDriver({
    access: { ...access, server: new URL(access.server) },
    namespace: 'agentrun-sandboxes',
    node_path: process.execPath,
    // One that starts twenty at once has to wait for some.
    start_timeout_ms: 30_000,
    folder_id: createHash('sha256').update(options.runtime_dir).digest('hex').slice(0, 32),
    ...options,
    pod: {
      node,
      image,
      seccomp_profile,
      runtime_class: null,
      user_namespaces: false,
      claims: [{ name: 'agentrun-data', root }],
      ...options.pod,
    },
  })
}
