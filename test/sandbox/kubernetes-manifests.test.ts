import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment'
import type { IPersistentVolume } from 'kubernetes-models/v1/PersistentVolume'
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import type { IPod } from 'kubernetes-models/v1/Pod'
import { expect, it, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { readManifests } from './cluster/manifests.ts'
import { restrictedViolations } from './cluster/pod-security.ts'
import { isAllowed } from './cluster/rules.ts'
import { type KubernetesObject, schemaFaults } from './cluster/schemas.ts'

const manifests = readManifests()
const objects = manifests.map(({ file, ...object }): KubernetesObject => object)
const all = <T>(kind: string) => objects.filter(object => object.kind === kind) as (KubernetesObject & T)[]
const find = <T>(kind: string, name: string) => all<T>(kind).find(object => object.metadata.name === name)

test.each(manifests.map(({ file, ...object }) => ({ object, of: `${object.kind} ${object.metadata.name} in ${file}` })))(
  'Kubernetes knows every field and value of the $of',
  ({ object }) => {
    expect(schemaFaults(object)).toEqual([])
  },
)

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
    const namespace = find<{ metadata: { labels: Record<string, string> } }>('Namespace', metadata.namespace ?? '')
    expect(namespace?.metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
    expect(restrictedViolations({ ...spec?.template, apiVersion: 'v1', kind: 'Pod' } as IPod)).toEqual([])
  }
})

it('the worker may ask for pods in the namespace of the sandboxes, and nothing else of the cluster', () => {
  const account = { name: 'agentrun-worker', namespace: 'agentrun' }
  const may = (verb: string, resource: string, namespace = 'agentrun-sandboxes', group = '') =>
    isAllowed(objects, { account, verb, group, resource, namespace })
  const pods = ['create', 'get', 'list', 'watch', 'delete']
  expect(pods.filter(verb => may(verb, 'pods'))).toEqual(pods)
  expect(may('list', 'networkpolicies', 'agentrun-sandboxes', 'networking.k8s.io')).toBe(true)
  for (const verb of ['update', 'patch', 'deletecollection', 'impersonate', '*']) expect(may(verb, 'pods'), verb).toBe(false)
  for (const resource of ['pods/exec', 'pods/attach', 'pods/ephemeralcontainers', 'secrets', 'serviceaccounts/token', 'configmaps', '*'])
    for (const verb of ['create', 'get', 'list']) expect(may(verb, resource), `${verb} ${resource}`).toBe(false)
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

it('the worker and its sandboxes see one and the same folder of one node', () => {
  const volumes = all<IPersistentVolume>('PersistentVolume')
  const claims = all<IPersistentVolumeClaim>('PersistentVolumeClaim')
  expect(volumes).toHaveLength(2)
  expect(new Set(volumes.map(({ spec }) => JSON.stringify([spec?.local, spec?.nodeAffinity]))).size).toBe(1)
  for (const { metadata, spec } of volumes) {
    const claim = claims.find(claim => claim.spec?.volumeName === metadata.name)
    expect(spec?.claimRef).toMatchObject({ namespace: claim?.metadata.namespace, name: claim?.metadata.name })
    expect(claim?.spec?.storageClassName).toBe(spec?.storageClassName)
  }
})

it('the service reads every variable that the manifests give it', () => {
  for (const { spec } of all<IDeployment>('Deployment')) {
    const [container] = spec?.template.spec?.containers ?? []
    const own = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value ?? 'given']))
    const env = { ...own, KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
    expect(() => readConfig(env)).not.toThrow()
    expect(spec?.template.spec?.enableServiceLinks, 'a Service would make variables that look like ours').toBe(false)
  }
})
