import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment'
import { validate as autoscaler } from 'kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler'
import { validate as job } from 'kubernetes-models/_schemas/IoK8sApiBatchV1Job'
import { validate as namespace } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Namespace'
import { validate as persistentVolume } from 'kubernetes-models/_schemas/IoK8sApiCoreV1PersistentVolume'
import { validate as persistentVolumeClaim } from 'kubernetes-models/_schemas/IoK8sApiCoreV1PersistentVolumeClaim'
import { validate as pod } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Pod'
import { validate as resourceQuota } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ResourceQuota'
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service'
import { validate as serviceAccount } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ServiceAccount'
import { validate as ingress } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1Ingress'
import { validate as networkPolicy } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy'
import { validate as disruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget'
import { validate as role } from 'kubernetes-models/_schemas/IoK8sApiRbacV1Role'
import { validate as roleBinding } from 'kubernetes-models/_schemas/IoK8sApiRbacV1RoleBinding'

/** Kubernetes' own schemas, as one package has them compiled, of every kind that we send or ship. */
const schemas: Record<string, Validator> = {
  'v1/Namespace': namespace,
  'v1/ServiceAccount': serviceAccount,
  'v1/Pod': pod,
  'v1/Service': service,
  'v1/ResourceQuota': resourceQuota,
  'v1/PersistentVolume': persistentVolume,
  'v1/PersistentVolumeClaim': persistentVolumeClaim,
  'apps/v1/Deployment': deployment,
  'autoscaling/v2/HorizontalPodAutoscaler': autoscaler,
  'batch/v1/Job': job,
  'networking.k8s.io/v1/Ingress': ingress,
  'networking.k8s.io/v1/NetworkPolicy': networkPolicy,
  'policy/v1/PodDisruptionBudget': disruptionBudget,
  'rbac.authorization.k8s.io/v1/Role': role,
  'rbac.authorization.k8s.io/v1/RoleBinding': roleBinding,
}
type Validator = ((data: unknown) => boolean) & {
  errors?: { instancePath: string; message?: string; keyword: string; params: object }[] | null
}

export type KubernetesObject = {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
}

/**
 * What the API server would refuse, or silently drop: wrong and missing values, and fields that no schema
 * knows. Those are found by watching the validator: it reads every field that it knows, so an unread member
 * is not a field.
 */
export function schemaFaults(object: KubernetesObject): string[] {
  const validate = schemas[`${object.apiVersion}/${object.kind}`]
  if (validate === undefined) return [`no matches for kind ${object.kind} in version ${object.apiVersion}`]
  const read = new Set<string>()
  const valid = validate(watched(object, '', read))
  const faults = valid
    ? []
    : (validate.errors ?? []).map(
        error => `${error.instancePath}: ${error.keyword} ${JSON.stringify(error.params)}`,
      )
  return [...faults, ...unreadFields(object, '', read).map(path => `${path}: unknown field`)]
}

function watched<T>(value: T, path: string, read: Set<string>): T {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, name) {
      const inner = `${path}/${String(name)}`
      read.add(inner)
      return watched(Reflect.get(target, name), inner, read)
    },
  })
}

function unreadFields(value: unknown, path: string, read: Set<string>): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const at = `${path}/${name}`
    return read.has(at) ? unreadFields(inner, at, read) : [at]
  })
}
