import { z } from 'zod'
import type { KubernetesApi } from './api.ts'

const list = z.array(z.unknown()).optional()

/** The parts of a NetworkPolicy that matter here. */
const NetworkPolicy = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    podSelector: z.object({
      matchLabels: z.record(z.string(), z.string()).optional(),
      matchExpressions: list,
    }),
    policyTypes: z.array(z.string()).optional(),
    ingress: list,
    egress: list,
  }),
})
const NetworkPolicies = z.object({ items: z.array(NetworkPolicy) })

const CLOSED = 'agentrun-sandboxes-closed'
const CALL_MS = 10_000

/**
 * Returns a problem of the namespace's network policies, as one line; null when they isolate every pod.
 * Policies are additive, so none may allow anything. That the cluster enforces them is tested from inside of
 * a pod. Throws ApiError.
 */
export async function policyFault(api: KubernetesApi, namespace: string): Promise<string | null> {
  const path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`
  const { items } = await api.call('GET', path, {
    schema: NetworkPolicies,
    signal: AbortSignal.timeout(CALL_MS),
  })
  const closed = items.find(({ metadata }) => metadata.name === CLOSED)
  if (closed === undefined)
    return `the namespace ${namespace} has no NetworkPolicy ${CLOSED}: apply deploy/kubernetes/sandboxes.yaml`
  const { podSelector, policyTypes = [] } = closed.spec
  const selects_all =
    Object.keys(podSelector.matchLabels ?? {}).length + (podSelector.matchExpressions ?? []).length === 0
  if (!selects_all || !policyTypes.includes('Ingress') || !policyTypes.includes('Egress'))
    return `the NetworkPolicy ${CLOSED} of ${namespace} does not select all pods in both directions: apply deploy/kubernetes/sandboxes.yaml`
  const open = items.find(({ spec }) => (spec.ingress ?? []).length + (spec.egress ?? []).length > 0)
  return open
    ? `the NetworkPolicy ${open.metadata.name} of ${namespace} opens what ${CLOSED} closes: take it away`
    : null
}
