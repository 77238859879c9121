import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createBubblewrapDriver } from '../sandbox/bubblewrap/bubblewrap.ts'
import { createDockerEngine } from '../sandbox/containers/docker.ts'
import { createContainerDriver } from '../sandbox/containers/driver.ts'
import { createKubernetesDriver } from '../sandbox/kubernetes/kubernetes.ts'
import type { SandboxDriver } from '../sandbox/port.ts'
import { clusterOf } from './cluster.ts'
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
