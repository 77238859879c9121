/** The fields of Kubernetes objects that this service writes and reads. */
export type Pod = PodDocument & { metadata: { uid: string; deletionTimestamp?: string }; status?: PodStatus }

export type PodStatus = {
  phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'
  reason?: string
  message?: string
  hostIP?: string
  conditions?: { type: string; status: string; reason?: string; message?: string }[]
  containerStatuses?: ContainerStatus[]
}

export type ContainerStatus = {
  state?: {
    waiting?: { reason?: string; message?: string }
    terminated?: { reason?: string; message?: string; exitCode: number }
  }
}

export type PodDocument = {
  apiVersion: 'v1'
  kind: 'Pod'
  metadata: { name: string; labels: Record<string, string> }
  spec: PodSpec
}

type Resources = { cpu: string; memory: string; 'ephemeral-storage': string }

export type PodSpec = {
  nodeName: string
  runtimeClassName?: string
  restartPolicy: 'Never'
  activeDeadlineSeconds: number
  terminationGracePeriodSeconds: number
  serviceAccountName: string
  automountServiceAccountToken: false
  enableServiceLinks: false
  hostNetwork: false
  hostPID: false
  hostIPC: false
  hostUsers?: false
  hostname: string
  dnsPolicy: 'None'
  dnsConfig: { nameservers: string[] }
  securityContext: {
    runAsNonRoot: true
    runAsUser: number
    runAsGroup: number
    sysctls: { name: string; value: string }[]
    seccompProfile: { type: 'RuntimeDefault' } | { type: 'Localhost'; localhostProfile: string }
  }
  containers: Container[]
  volumes: Volume[]
}

export type Container = {
  name: string
  image: string
  imagePullPolicy: 'IfNotPresent'
  command: string[]
  workingDir: string
  env: { name: string; value: string }[]
  resources: { limits: Resources; requests: Resources }
  securityContext: {
    privileged: false
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities: { drop: string[] }
  }
  volumeMounts: VolumeMount[]
}

export type VolumeMount = { name: string; mountPath: string; subPath?: string; readOnly?: boolean }

export type Volume = {
  name: string
  persistentVolumeClaim?: { claimName: string }
  emptyDir?: { medium: 'Memory'; sizeLimit: string }
}
