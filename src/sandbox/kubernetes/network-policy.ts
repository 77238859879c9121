import type { KubernetesApi } from './api.ts'

/** Of a NetworkPolicy, what decides here. */
type NetworkPolicy = {
  metadata: { name: string }
  spec: {
    podSelector: { matchLabels?: object; matchExpressions?: unknown[] }
    policyTypes?: string[]
    ingress?: unknown[]
    egress?: unknown[]
  }
}

const CLOSED = 'agentrun-sandboxes-closed'
const CALL_MS = 10_000

/**
 * What is wrong with the network policies of the namespace, as one line; null when they close every pod of it. They add up, so none may
 * open anything. That the cluster does what they say is proved from inside of a pod. Throws ApiError.
 */
export async function policyFault(api: KubernetesApi, namespace: string): Promise<string | null> {
  const path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`
  const { items } = await api.call<{ items: NetworkPolicy[] }>('GET', path, { signal: AbortSignal.timeout(CALL_MS) })
  const closed = items.find(({ metadata }) => metadata.name === CLOSED)
  if (closed === undefined) return `the namespace ${namespace} has no NetworkPolicy ${CLOSED}: apply deploy/kubernetes/sandboxes.yaml`
  const { podSelector, policyTypes = [] } = closed.spec
  const selects_all = Object.keys(podSelector.matchLabels ?? {}).length + (podSelector.matchExpressions ?? []).length === 0
  if (!selects_all || !policyTypes.includes('Ingress') || !policyTypes.includes('Egress'))
    return `the NetworkPolicy ${CLOSED} of ${namespace} does not select all pods in both directions: apply deploy/kubernetes/sandboxes.yaml`
  const open = items.find(({ spec }) => (spec.ingress ?? []).length + (spec.egress ?? []).length > 0)
  return open ? `the NetworkPolicy ${open.metadata.name} of ${namespace} opens what ${CLOSED} closes: take it away` : null
}
