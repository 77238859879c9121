import type { IPod } from 'kubernetes-models/v1/Pod'

const ALLOWED_VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]
const SAFE_SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_unprivileged_port_start',
]

/** The violations of the pod security standard "restricted" by a pod, by the names of its controls. */
export function restrictedViolations({ spec }: IPod): string[] {
  if (!spec) return ['no spec']
  const containers = [...spec.containers, ...(spec.initContainers ?? [])]
  const faults: string[] = []
  const refuse = (wrong: boolean | undefined, fault: string) => {
    if (wrong) faults.push(fault)
  }
  refuse(spec.hostNetwork || spec.hostPID || spec.hostIPC, 'host namespaces')
  for (const volume of spec.volumes ?? []) {
    const [source] = Object.keys(volume).filter(name => name !== 'name')
    refuse(
      !ALLOWED_VOLUMES.includes(source ?? ''),
      `restricted volume types (volume "${volume.name}" uses ${source})`,
    )
  }
  refuse(
    spec.securityContext?.sysctls?.some(({ name }) => !SAFE_SYSCTLS.includes(name)),
    'forbidden sysctls',
  )
  for (const container of containers) {
    const own = container.securityContext
    const seccomp = own?.seccompProfile?.type ?? spec.securityContext?.seccompProfile?.type
    const user = own?.runAsUser ?? spec.securityContext?.runAsUser
    const { drop = [], add = [] } = own?.capabilities ?? {}
    refuse(own?.privileged, 'privileged')
    refuse(own?.allowPrivilegeEscalation !== false, 'allowPrivilegeEscalation != false')
    refuse(
      !drop.includes('ALL') || add.some(name => name !== 'NET_BIND_SERVICE'),
      'unrestricted capabilities',
    )
    refuse((own?.runAsNonRoot ?? spec.securityContext?.runAsNonRoot) !== true, 'runAsNonRoot != true')
    refuse(user === 0, 'runAsUser=0')
    refuse(seccomp !== 'RuntimeDefault' && seccomp !== 'Localhost', 'seccompProfile')
    refuse(own?.procMount !== undefined && own.procMount !== 'Default', 'procMount')
    refuse(
      (container.ports ?? []).some(port => port.hostPort),
      'hostPort',
    )
  }
  return faults
}
