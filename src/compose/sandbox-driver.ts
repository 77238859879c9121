import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { RUNTIME_DEFAULT } from '../core/repositories/pod-configuration.ts'
import { createBubblewrapDriver } from '../sandbox/bubblewrap/bubblewrap.ts'
import { createDockerEngine } from '../sandbox/containers/docker.ts'
import { createContainerDriver } from '../sandbox/containers/driver.ts'
import type { ApiAccess } from '../sandbox/kubernetes/api.ts'
import { createKubernetesDriver } from '../sandbox/kubernetes/kubernetes.ts'
import type { PodSettings } from '../sandbox/kubernetes/pod-document.ts'
import type { SandboxDriver } from '../sandbox/port.ts'
import type { Parts } from './parts.ts'

/** The sockets where an engine is searched for: those of root's engines, then those of a user's own. */
const sockets = {
  docker: () => ['/var/run/docker.sock', `/run/user/${process.getuid?.()}/docker.sock`],
  podman: () => ['/run/podman/podman.sock', `/run/user/${process.getuid?.()}/podman/podman.sock`],
}

/** Returns the configured driver, and never falls back to another one. */
export function createSandboxDriver({ config, data, users, path, node_path }: Parts): SandboxDriver {
  const folder = join(data.root, 'sandbox')
  const own = {
    user: users.sandbox,
    node_path,
    start_timeout_ms: config.AGENTRUN_SANDBOX_START_SECONDS * 1000,
  }
  const name = config.AGENTRUN_SANDBOX
  if (name === 'bubblewrap') return createBubblewrapDriver({ ...own, path, runtime_dir: folder })
  if (name === 'kubernetes')
    return createKubernetesDriver({
      ...own,
      ...clusterOf(config, data.root),
      folder_id: data.id,
      runtime_dir: join(folder, 'pods'),
    })
  const candidates = sockets[name]()
  const runtime_dir = join(folder, 'containers')
  const image = config.AGENTRUN_SANDBOX_IMAGE ?? null
  const engine = createDockerEngine({
    name,
    socket:
      config.AGENTRUN_SANDBOX_ENGINE ?? candidates.find(path => existsSync(path)) ?? candidates[0] ?? '',
    image,
    runtime: config.AGENTRUN_SANDBOX_RUNTIME ?? null,
    owner: data.id,
    seccomp_file: join(runtime_dir, 'seccomp.json'),
  })
  return createContainerDriver({ ...own, engine, runtime_dir, own_root: image !== null })
}

/**
 * The parts of the data folder that sandboxes are shown something of. The others have keys, the database and
 * what was not checked yet.
 */
const SHOWN_PARTS = ['workspaces', 'sandbox', 'mirrors', 'checkpoints']

/**
 * Returns the settings of a worker in a cluster. The configuration has been read, so what a pod needs is
 * there.
 */
function clusterOf(
  config: Config,
  data_root: string,
): { access: ApiAccess; namespace: string; pod: PodSettings } {
  const host = config.KUBERNETES_SERVICE_HOST ?? ''
  const seccomp = config.AGENTRUN_KUBERNETES_SECCOMP ?? ''
  const account = (name: string) => join(config.AGENTRUN_KUBERNETES_ACCOUNT, name)
  return {
    access: {
      server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${config.KUBERNETES_SERVICE_PORT}`),
      ca_file: account('ca.crt'),
      token_file: account('token'),
    },
    namespace: config.AGENTRUN_KUBERNETES_NAMESPACE,
    pod: {
      node: config.AGENTRUN_KUBERNETES_NODE ?? '',
      claims: SHOWN_PARTS.map(part => ({
        name: `${config.AGENTRUN_KUBERNETES_CLAIM}-${part}`,
        root: join(data_root, part),
      })),
      image: config.AGENTRUN_SANDBOX_IMAGE ?? '',
      runtime_class: config.AGENTRUN_SANDBOX_RUNTIME ?? null,
      seccomp_profile: seccomp === RUNTIME_DEFAULT ? null : seccomp,
      user_namespaces: config.AGENTRUN_KUBERNETES_USER_NAMESPACES,
    },
  }
}
