import { z } from 'zod'

const Reasoned = z.object({ reason: z.string().optional(), message: z.string().optional() })

/** The fields of a pod that this service reads. */
export const Pod = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
    deletionTimestamp: z.string().optional(),
  }),
  status: Reasoned.extend({
    phase: z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']).optional(),
    hostIP: z.string().optional(),
    conditions: z.array(Reasoned.extend({ type: z.string(), status: z.string() })).optional(),
    containerStatuses: z
      .array(
        z.object({
          state: z
            .object({
              waiting: Reasoned.optional(),
              terminated: Reasoned.extend({ exitCode: z.number() }).optional(),
            })
            .optional(),
        }),
      )
      .optional(),
  }).optional(),
})
export type Pod = z.output<typeof Pod>

/** A pod as this service creates it. */
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

type Container = {
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
