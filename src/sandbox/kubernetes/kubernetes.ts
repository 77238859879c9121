import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SystemUser } from '../../system/users.ts'
import { createContainerDriver } from '../containers/driver.ts'
import type { SandboxDriver } from '../port.ts'
import { seccompProfile } from '../seccomp/seccomp-profile.ts'
import { type ApiAccess, createApi } from './api.ts'
import { kubernetesEngine } from './engine.ts'
import type { PodSettings } from './pod-document.ts'
import { findReachable, nameServers, targets } from './reach.ts'

/**
 * Creates the driver for sandboxes as pods. `user` as for bubblewrap: null without root, and the pods run as
 * the service's user. `runtime_dir`, workspaces and all mounts are on the volumes of the claims. `folder_id`
 * identifies the data folder: pods that a killed process of it left are removed.
 */
export function createKubernetesDriver(options: {
  access: ApiAccess
  namespace: string
  pod: PodSettings
  user: SystemUser | null
  node_path: string
  runtime_dir: string
  folder_id: string
  /** Timeout for the start of a sandbox, including the pull of its image; default 10 s. */
  start_timeout_ms?: number
}): SandboxDriver {
  const { access, namespace, pod, folder_id, runtime_dir, start_timeout_ms = 10_000 } = options
  const engine = kubernetesEngine({ api: createApi(access), namespace, pod, folder_id, start_timeout_ms })
  return createContainerDriver({
    ...options,
    own_root: true,
    engine: {
      ...engine,
      async prepare() {
        // For the operator who installs it on the nodes.
        mkdirSync(runtime_dir, { recursive: true })
        writeFileSync(join(runtime_dir, 'seccomp.json'), seccompProfile())
        await engine.prepare()
      },
      findReachable: sandbox =>
        findReachable(sandbox, targets(access.server, engine.nodeAddress(), nameServers())),
    },
  })
}
