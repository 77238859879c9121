import { join } from 'node:path'
import type { Config } from '../config.ts'
import { RUNTIME_DEFAULT } from '../core/repositories/pod-configuration.ts'
import type { ApiAccess } from '../sandbox/kubernetes/api.ts'
import type { PodSettings } from '../sandbox/kubernetes/pod-document.ts'

/**
 * The parts of the data folder that sandboxes are shown something of. The others have keys, the database and
 * what was not checked yet.
 */
const SHOWN_PARTS = ['workspaces', 'sandbox', 'mirrors', 'checkpoints']

/**
 * Returns the settings of a worker in a cluster. The configuration has been read, so what a pod needs is
 * there.
 */
export function clusterOf(
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
