import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment'
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import type { IPersistentVolume } from 'kubernetes-models/v1/PersistentVolume'
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import type { IPod } from 'kubernetes-models/v1/Pod'
import { expect, it, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { readManifests } from '../cluster/manifests.ts'
import { restrictedViolations } from '../cluster/pod-security.ts'
import { isAllowed } from '../cluster/rules.ts'
import { type KubernetesObject, schemaFaults } from '../cluster/schemas.ts'

const manifests = readManifests()
const objects = manifests.map(({ file, ...object }): KubernetesObject => object)
const all = <T>(kind: string) => objects.filter(object => object.kind === kind) as (KubernetesObject & T)[]
const find = <T>(kind: string, name: string) => all<T>(kind).find(object => object.metadata.name === name)

test.each(
  manifests.map(({ file, ...object }) => ({
    object,
    of: `${object.kind} ${object.metadata.name} in ${file}`,
  })),
)('Kubernetes knows every field and value of the $of', ({ object }) => {
  expect(schemaFaults(object)).toEqual([])
})

it('a misspelt field, a wrong value, a missing one and an unknown kind would be found', () => {
  const deployment = find<IDeployment>('Deployment', 'agentrun-work')
  const spec = { ...deployment?.spec, replikas: 1, replicas: 'one', selector: undefined }
  const faults = schemaFaults({ ...deployment, spec } as unknown as KubernetesObject)
  expect(faults).toEqual(
    expect.arrayContaining([
      expect.stringContaining('/spec/replikas: unknown field'),
      expect.stringContaining('/spec/replicas'),
      expect.stringMatching(/required.*selector/),
    ]),
  )
  expect(schemaFaults({ apiVersion: 'v1', kind: 'Podd', metadata: { name: 'x' } })).toHaveLength(1)
})

it('the pods of the service satisfy the standard that their namespace demands', () => {
  for (const { metadata, spec } of all<IDeployment>('Deployment')) {
    const namespace = find<{ metadata: { labels: Record<string, string> } }>(
      'Namespace',
      metadata.namespace ?? '',
    )
    expect(namespace?.metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
    expect(restrictedViolations({ ...spec?.template, apiVersion: 'v1', kind: 'Pod' } as IPod)).toEqual([])
  }
})

it('the worker may manage pods in the namespace of the sandboxes, and nothing else of the cluster', () => {
  const account = { name: 'agentrun-worker', namespace: 'agentrun' }
  const may = (verb: string, resource: string, namespace = 'agentrun-sandboxes', group = '') =>
    isAllowed(objects, { account, verb, group, resource, namespace })
  const pods = ['create', 'get', 'list', 'watch', 'delete']
  expect(pods.filter(verb => may(verb, 'pods'))).toEqual(pods)
  expect(may('list', 'networkpolicies', 'agentrun-sandboxes', 'networking.k8s.io')).toBe(true)
  for (const verb of ['update', 'patch', 'deletecollection', 'impersonate', '*'])
    expect(may(verb, 'pods'), verb).toBe(false)
  for (const resource of [
    'pods/exec',
    'pods/attach',
    'pods/ephemeralcontainers',
    'secrets',
    'serviceaccounts/token',
    'configmaps',
    '*',
  ])
    for (const verb of ['create', 'get', 'list'])
      expect(may(verb, resource), `${verb} ${resource}`).toBe(false)
  for (const verb of ['create', 'update', 'delete'])
    expect(may(verb, 'networkpolicies', 'agentrun-sandboxes', 'networking.k8s.io')).toBe(false)
  expect(may('list', 'pods', 'agentrun')).toBe(false)
  expect(objects.filter(({ kind }) => kind.startsWith('Cluster'))).toEqual([])
})

it('the account of the sandboxes has no role and no token', () => {
  const account = find<{ automountServiceAccountToken?: boolean }>('ServiceAccount', 'agentrun-sandbox')
  expect(account?.automountServiceAccountToken).toBe(false)
  expect(JSON.stringify(all('RoleBinding'))).not.toContain('"agentrun-sandbox"')
})

it('the worker has its data folder, and the namespace of the sandboxes four parts of it on the same node, and no more', () => {
  const volumes = all<IPersistentVolume>('PersistentVolume')
  const claims = all<IPersistentVolumeClaim>('PersistentVolumeClaim')
  expect(new Set(volumes.map(({ spec }) => JSON.stringify(spec?.nodeAffinity))).size).toBe(1)
  for (const { metadata, spec } of volumes) {
    const claim = claims.find(claim => claim.spec?.volumeName === metadata.name)
    expect(spec?.claimRef).toMatchObject({ namespace: claim?.metadata.namespace, name: claim?.metadata.name })
    expect(claim?.spec?.storageClassName).toBe(spec?.storageClassName)
  }
  const foldersOf = (namespace: string) =>
    volumes.flatMap(({ spec }) =>
      spec?.claimRef?.namespace === namespace ? [[spec.claimRef.name, spec.local?.path]] : [],
    )
  expect(foldersOf('agentrun')).toEqual([['agentrun-data', '/var/lib/agentrun']])
  const parts = ['workspaces', 'sandbox', 'mirrors', 'checkpoints']
  expect(foldersOf('agentrun-sandboxes')).toEqual(
    parts.map(part => [`agentrun-data-${part}`, `/var/lib/agentrun/${part}`]),
  )
})

/**
 * Whether policies let a connection to a port of the pod in, from a pod of another namespace that has these
 * labels: Kubernetes' rule.
 */
function admits(pod: Record<string, string>, port: number, namespace: string): boolean {
  const has = (labels: Record<string, string>, wanted: Record<string, string> = {}) =>
    Object.entries(wanted).every(([name, value]) => labels[name] === value)
  const about = all<INetworkPolicy>('NetworkPolicy').filter(
    ({ metadata, spec }) =>
      metadata.namespace === 'agentrun' &&
      has(pod, spec?.podSelector?.matchLabels) &&
      spec?.policyTypes?.includes('Ingress'),
  )
  if (about.length === 0) return true
  const from = { 'kubernetes.io/metadata.name': namespace }
  return about.some(({ spec }) =>
    (spec?.ingress ?? []).some(
      rule =>
        (rule.from === undefined ||
          rule.from.some(peer => has(from, peer.namespaceSelector?.matchLabels ?? { none: '' }))) &&
        (rule.ports === undefined ||
          rule.ports.some(allowed => allowed.protocol === 'TCP' && allowed.port === port)),
    ),
  )
}

it('into the pods of the service come requests of the API from anywhere, and those for metrics from the monitoring only', () => {
  const pods = all<IDeployment>('Deployment').map(({ spec }) => spec?.template.metadata?.labels ?? {})
  const [serve = {}, work = {}] = ['serve', 'work'].map(name =>
    pods.find(labels => labels['app.kubernetes.io/name'] === `agentrun-${name}`),
  )
  expect([admits(serve, 4600, 'ingress'), admits(work, 4601, 'monitoring')]).toEqual([true, true])
  for (const namespace of ['ingress', 'default', 'agentrun', 'agentrun-sandboxes'])
    expect(admits(work, 4601, namespace)).toBe(false)
  expect([admits(serve, 4601, 'monitoring'), admits(serve, 4601, 'ingress')]).toEqual([true, false])
  for (const port of [22, 5432]) expect(admits(serve, port, 'monitoring')).toBe(false)
  for (const port of [22, 4600, 5432]) expect(admits(work, port, 'monitoring')).toBe(false)
  // A foreign pod of that namespace, such as a database, keeps its network.
  expect(admits({ app: 'other' }, 5432, 'agentrun')).toBe(true)
})

it('the pods of the service reach every pod, and every address but the metadata service of a cloud', () => {
  const policies = all<INetworkPolicy>('NetworkPolicy').filter(
    ({ metadata }) => metadata.namespace === 'agentrun',
  )
  const peers = policies.flatMap(({ spec }) => (spec?.egress ?? []).flatMap(({ to }) => to ?? []))
  expect(peers).toEqual([
    { namespaceSelector: {} },
    { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.169.254/32'] } },
    { ipBlock: { cidr: '::/0', except: ['fd00:ec2::254/128'] } },
  ])
})

it('the service reads every variable that the manifests give it', () => {
  for (const { spec } of all<IDeployment>('Deployment')) {
    const [container] = spec?.template.spec?.containers ?? []
    const of_secret = { DATABASE_URL: 'postgres://database/agentrun', AGENTRUN_SECRET_KEY: 'ab'.repeat(32) }
    const own: Record<string, string> = {
      ...Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value ?? 'given'])),
      ...of_secret,
    }
    const env = { ...own, KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
    const image = own.AGENTRUN_SANDBOX_IMAGE?.replace('DIGEST', '0'.repeat(64))
    expect(() => readConfig({ ...env, ...(image && { AGENTRUN_SANDBOX_IMAGE: image }) })).not.toThrow()
    if (image) expect(() => readConfig(env), 'the digest must be filled in').toThrow('AGENTRUN_SANDBOX_IMAGE')
    expect(
      spec?.template.spec?.enableServiceLinks,
      'a Service would make variables that look like ours',
    ).toBe(false)
  }
})
