/** The operator's configuration for sandboxes in pods, by the names of the variables. */
type PodConfiguration = {
  AGENTRUN_SANDBOX_IMAGE?: string | undefined
  AGENTRUN_KUBERNETES_NODE?: string | undefined
  AGENTRUN_KUBERNETES_CLAIM?: string | undefined
  AGENTRUN_KUBERNETES_SECCOMP?: string | undefined
  AGENTRUN_KUBERNETES_UNPINNED_IMAGE: boolean
  KUBERNETES_SERVICE_HOST?: string | undefined
  AGENTRUN_AGENTS?: ReadonlyMap<string, { folder: string | null }> | undefined
}

/**
 * A value of `AGENTRUN_KUBERNETES_SECCOMP`: the profile of the container runtime instead of the service's
 * own.
 */
export const RUNTIME_DEFAULT = 'RuntimeDefault'

const REQUIRED = [
  'AGENTRUN_SANDBOX_IMAGE',
  'AGENTRUN_KUBERNETES_NODE',
  'AGENTRUN_KUBERNETES_CLAIM',
  'AGENTRUN_KUBERNETES_SECCOMP',
  'KUBERNETES_SERVICE_HOST',
] as const
const DIGEST = /@sha256:[0-9a-f]{64}$/

/**
 * Returns one line for each variable that pods need and that is missing, or that weakens them without the
 * operator's explicit choice.
 */
export function podConfigurationFaults(configuration: PodConfiguration): string[] {
  const faults = [
    ...REQUIRED.filter(name => configuration[name] === undefined).map(
      name => `${name}: AGENTRUN_SANDBOX=kubernetes needs it`,
    ),
    ...agentFaults(configuration.AGENTRUN_AGENTS ?? new Map()),
  ]
  const image = configuration.AGENTRUN_SANDBOX_IMAGE
  if (image === undefined || DIGEST.test(image) || configuration.AGENTRUN_KUBERNETES_UNPINNED_IMAGE)
    return faults
  return [
    ...faults,
    'AGENTRUN_SANDBOX_IMAGE: must end in @sha256:…, or set AGENTRUN_KUBERNETES_UNPINNED_IMAGE=1 to run whatever the tag names',
  ]
}

/** A pod sees its image and the volumes of the data folder, which has no programs. */
function agentFaults(agents: ReadonlyMap<string, { folder: string | null }>): string[] {
  const with_folder = [...agents].filter(([, { folder }]) => folder !== null)
  return with_folder.map(
    ([id]) =>
      `AGENTRUN_AGENTS: ${id}, folder: a pod cannot be shown a folder of the worker; leave it out, and install the agent as /opt/agents/${id} in AGENTRUN_SANDBOX_IMAGE`,
  )
}
