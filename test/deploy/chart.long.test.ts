import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment'
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import type { IPod } from 'kubernetes-models/v1/Pod'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { renderChart } from '../../scripts/render-chart/render-chart.ts'
import { MANIFESTS_FOLDER, manifestFiles } from '../../scripts/write-manifests.ts'
import { readConfig } from '../../src/config.ts'
import { restrictedViolations } from '../sandbox/cluster/pod-security.ts'
import { type KubernetesObject, schemaFaults } from '../sandbox/cluster/schemas.ts'

const objectsOf = (files: Record<string, string>): KubernetesObject[] =>
  Object.values(files).flatMap(text =>
    parseAllDocuments(text).flatMap(document => {
      const object = document.toJS() as KubernetesObject | null
      return object === null ? [] : [object]
    }),
  )
const of = <T>(objects: KubernetesObject[], kind: string) =>
  objects.filter(object => object.kind === kind) as (KubernetesObject & T)[]
const names = (objects: KubernetesObject[], kind: string) =>
  of(objects, kind).map(({ metadata }) => metadata.name)

test('the manifests for kubectl are the rendered chart: after a change run `node scripts/write-manifests.ts`', () => {
  const files = manifestFiles()
  expect(readdirSync(MANIFESTS_FOLDER).sort()).toEqual([...files.keys()].sort())
  for (const [name, text] of files)
    expect({ name, text: readFileSync(join(MANIFESTS_FOLDER, name), 'utf8') }).toEqual({ name, text })
})

const metric_reference = readFileSync(join(MANIFESTS_FOLDER, '../../docs/reference/metrics.md'), 'utf8')

const digest = `sha256:${'0'.repeat(64)}`
const sandboxes = { image: `registry.example.org/sandbox@${digest}` }
const sets: Record<string, { [name: string]: unknown }> = {
  'one node': { sandboxes },
  'two nodes, a registry of its own, no policies': {
    sandboxes: { ...sandboxes, namespace: 'elsewhere' },
    image: { repository: 'registry.example.org/agentrun', digest },
    imagePullSecrets: ['registry'],
    work: { nodes: ['a', 'b'] },
    networkPolicy: { enabled: false },
    migrate: { enabled: false },
    env: { AGENTRUN_LOG_LEVEL: 'debug' },
  },
  'workers under bubblewrap that scale with the queue': {
    work: { sandbox: 'bubblewrap', autoscaling: { enabled: true, maxReplicas: 12 } },
    serve: { autoscaling: { enabled: true } },
    ingress: { enabled: true, tlsSecret: 'tls' },
    networkPolicy: { apiFrom: ['ingress-nginx'] },
  },
}

describe.each(Object.entries(sets))('the chart with %s', (name, values) => {
  const objects = objectsOf(renderChart(values))

  test('has only fields and values that Kubernetes knows, in namespaces that exist', () => {
    for (const object of objects)
      expect({ name: object.metadata.name, faults: schemaFaults(object) }).toEqual({
        name: object.metadata.name,
        faults: [],
      })
    const keys = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`)
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('gives every pod variables that the service reads, and a confinement that it works with', () => {
    for (const { metadata, spec } of [
      ...of<IDeployment>(objects, 'Deployment'),
      ...of<IDeployment>(objects, 'Job'),
    ]) {
      const pod = spec?.template.spec
      const [container] = pod?.containers ?? []
      const [of_secret = [], own = []] = [true, false].map(wanted =>
        (container?.env ?? []).filter(({ valueFrom }) => (valueFrom?.secretKeyRef !== undefined) === wanted),
      )
      // Without `optional`: a secret that lacks one of them starts no pod.
      expect(of_secret.map(({ valueFrom }) => valueFrom?.secretKeyRef)).toEqual([
        { name: 'agentrun', key: 'DATABASE_URL' },
        { name: 'agentrun', key: 'AGENTRUN_SECRET_KEY' },
      ])
      const env = Object.fromEntries(own.map(({ name, value }) => [name, value ?? 'given']))
      expect(() =>
        readConfig({ ...env, KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }),
      ).not.toThrow()
      const violations = restrictedViolations({ ...spec?.template, apiVersion: 'v1', kind: 'Pod' } as IPod)
      const inside = name.includes('bubblewrap') && metadata.name === 'agentrun-work'
      expect(violations.length > 0, violations.join()).toBe(inside)
      expect(container?.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
      })
      expect(pod?.volumes?.map(volume => volume.name)).toEqual(['data', 'tmp'])
      // A process that migrates serves nothing yet.
      const { periodSeconds = 10, failureThreshold = 3 } = container?.startupProbe ?? {}
      if (container?.livenessProbe) expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(3_600)
    }
  })
})

test('each node has a worker, five volumes and five claims of its own', () => {
  const objects = objectsOf(renderChart(sets['two nodes, a registry of its own, no policies'] ?? {}))
  expect(names(objects, 'Deployment')).toEqual(['agentrun-serve', 'agentrun-work', 'agentrun-work-1'])
  expect([names(objects, 'PersistentVolume').length, names(objects, 'PersistentVolumeClaim').length]).toEqual(
    [10, 10],
  )
  expect([names(objects, 'NetworkPolicy'), names(objects, 'Job')]).toEqual([
    ['agentrun-sandboxes-closed'],
    [],
  ])
  const images = of<IDeployment>(objects, 'Deployment').map(
    ({ spec }) => spec?.template.spec?.containers[0]?.image,
  )
  expect(new Set(images)).toEqual(new Set([`registry.example.org/agentrun@${digest}`]))
})

test('every pod of the service runs on the chosen nodes, whatever their taints', () => {
  const where = {
    nodeSelector: { 'node.kubernetes.io/pool': 'agents' },
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'agents', effect: 'NoSchedule' }],
  }
  for (const sandbox of ['kubernetes', 'bubblewrap']) {
    const objects = objectsOf(renderChart({ ...where, work: { sandbox } }))
    expect(objects.flatMap(schemaFaults)).toEqual([])
    const pods = [...of<IDeployment>(objects, 'Deployment'), ...of<IDeployment>(objects, 'Job')]
    expect(pods).toHaveLength(3)
    for (const { spec } of pods) expect(spec?.template.spec).toMatchObject(where)
  }
})

test('a variable of the values replaces that of the chart, so that the service also listens in a cluster with IPv6 alone', () => {
  const own = { AGENTRUN_HOST: '::', AGENTRUN_METRICS_HOST: '::', AGENTRUN_WORKER_CONCURRENCY: '9' }
  for (const sandbox of ['kubernetes', 'bubblewrap'])
    for (const { metadata, spec } of of<IDeployment>(
      objectsOf(renderChart({ work: { sandbox }, env: own })),
      'Deployment',
    )) {
      const env = spec?.template.spec?.containers[0]?.env ?? []
      expect(new Set(env.map(({ name }) => name)).size, metadata.name).toBe(env.length)
      expect(Object.fromEntries(env.map(({ name, value }) => [name, value]))).toMatchObject(own)
    }
})

test('behind an ingress, limits count the addresses of clients instead of the one of its controller', () => {
  const trusted = (values: { [name: string]: unknown }) =>
    of<IDeployment>(objectsOf(renderChart(values)), 'Deployment').map(({ metadata, spec }) => [
      metadata.name,
      spec?.template.spec?.containers[0]?.env?.find(({ name }) => name === 'AGENTRUN_TRUST_PROXY')?.value,
    ])
  expect(Object.fromEntries(trusted({ ingress: { enabled: true } }))).toEqual({
    'agentrun-serve': '1',
    'agentrun-work': undefined,
  })
  expect(Object.fromEntries(trusted({}))).toEqual({ 'agentrun-serve': undefined, 'agentrun-work': undefined })
})

test('the policies apply to every pod of the service and to no other pod of its namespace', () => {
  const labels = { 'app.kubernetes.io/part-of': 'agentrun' }
  for (const values of [{}, { work: { sandbox: 'bubblewrap' } }]) {
    const objects = objectsOf(renderChart(values))
    for (const { spec } of [...of<IDeployment>(objects, 'Deployment'), ...of<IDeployment>(objects, 'Job')])
      expect(spec?.template.metadata?.labels).toMatchObject(labels)
    const policies = of<INetworkPolicy>(objects, 'NetworkPolicy').filter(
      ({ metadata }) => metadata.namespace === 'agentrun',
    )
    expect(policies.map(({ metadata }) => metadata.name)).toEqual([
      'agentrun-closed',
      'agentrun-api',
      'agentrun-metrics',
      'agentrun-out',
    ])
    for (const { metadata, spec } of policies)
      expect(spec?.podSelector?.matchLabels, metadata.name).toEqual(
        metadata.name === 'agentrun-api' ? { 'app.kubernetes.io/name': 'agentrun-serve' } : labels,
      )
  }
})

test('workers under bubblewrap may create namespaces and mounts, which the runtime’s profiles for both deny', () => {
  const objects = objectsOf(renderChart({ work: { sandbox: 'bubblewrap' } }))
  const pod = of<IDeployment>(objects, 'Deployment').find(({ metadata }) => metadata.name === 'agentrun-work')
    ?.spec?.template.spec
  expect(pod).toMatchObject({
    hostUsers: false,
    securityContext: { seccompProfile: { type: 'Unconfined' }, appArmorProfile: { type: 'Unconfined' } },
  })
  expect(pod?.containers[0]?.securityContext?.procMount).toBe('Unmasked')
})

test('workers under bubblewrap scale with the runs that wait, and their number is the autoscaler’s', () => {
  const objects = objectsOf(renderChart(sets['workers under bubblewrap that scale with the queue'] ?? {}))
  const scaler = of<IHorizontalPodAutoscaler>(objects, 'HorizontalPodAutoscaler').find(
    ({ metadata }) => metadata.name === 'agentrun-work',
  )
  const target = (averageValue: string) => ({ type: 'AverageValue', averageValue })
  expect(scaler?.spec).toMatchObject({
    maxReplicas: 12,
    metrics: [
      { external: { metric: { name: 'agentrun_queue_runs' }, target: target('4') } },
      // An empty queue must not remove the workers of the runs in progress.
      {
        external: {
          metric: { name: 'agentrun_worker_slots', selector: { matchLabels: { state: 'busy' } } },
          target: target('4'),
        },
      },
    ],
  })
  for (const { external } of scaler?.spec?.metrics ?? [])
    expect(metric_reference).toContain(`| \`${external?.metric.name}\` |`)
  expect(of<IDeployment>(objects, 'Deployment').map(({ spec }) => spec?.replicas)).toEqual([
    undefined,
    undefined,
  ])
  expect(names(objects, 'PodDisruptionBudget').sort()).toEqual(['agentrun-serve', 'agentrun-work'])
  for (const { spec } of of<IPodDisruptionBudget>(objects, 'PodDisruptionBudget'))
    expect(spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' })
  expect(names(objects, 'PersistentVolume')).toEqual([])
  expect(names(objects, 'Ingress')).toEqual(['agentrun'])
})
