import type { IRole } from 'kubernetes-models/rbac.authorization.k8s.io/v1/Role'
import type { IRoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1/RoleBinding'
import type { KubernetesObject } from './schemas.ts'

export type Attempt = {
  account: { name: string; namespace: string }
  verb: string
  group: string
  resource: string
  namespace: string
}

/**
 * Whether a role of these objects that is bound to the account allows it: Kubernetes' rule, for roles of a
 * namespace.
 */
export function isAllowed(
  objects: KubernetesObject[],
  { account, verb, group, resource, namespace }: Attempt,
): boolean {
  const inside = (kind: string) =>
    objects.filter(object => object.kind === kind && object.metadata.namespace === namespace)
  const bound = (inside('RoleBinding') as IRoleBinding[]).filter(({ subjects = [] }) =>
    subjects.some(
      ({ kind, name, namespace }) =>
        kind === 'ServiceAccount' && name === account.name && namespace === account.namespace,
    ),
  )
  const roles = (inside('Role') as IRole[]).filter(role =>
    bound.some(({ roleRef }) => roleRef.name === role.metadata?.name),
  )
  const has = (list: string[] | undefined, value: string) =>
    list?.some(item => item === value || item === '*') === true
  return roles.some(({ rules }) =>
    rules?.some(
      rule =>
        has(rule.verbs, verb) &&
        has(rule.apiGroups, group) &&
        has(rule.resources, resource) &&
        !rule.resourceNames,
    ),
  )
}
