import { rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, it, test } from 'vitest'
import { z } from 'zod'
import { createApi, type KubernetesApi } from '../../../src/sandbox/kubernetes/api.ts'
import { followPods } from '../../../src/sandbox/kubernetes/follow-pods.ts'
import { Pod, type PodDocument } from '../../../src/sandbox/kubernetes/pod.ts'
import { podDocument } from '../../../src/sandbox/kubernetes/pod-document.ts'
import { type Call, type FakeApi, startFakeApi } from '../cluster/fake-api.ts'
import { readManifests } from '../cluster/manifests.ts'

const PODS = '/api/v1/namespaces/agentrun-sandboxes/pods'
const LABELLED = `${PODS}?labelSelector=mine%3Dyes`
let server: FakeApi
let api: KubernetesApi
let next = 0

beforeAll(async () => {
  const objects = readManifests().map(({ file, ...object }) => object)
  server = await startFakeApi(objects, { name: 'agentrun-worker', namespace: 'agentrun' })
  api = createApi(server.access)
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(() => {
  server.calls.length = 0
})

const settings = {
  node: 'node-1',
  claims: [{ name: 'agentrun-data', root: '/data' }],
  image: 'agentrun-sandbox:0.1.0',
  runtime_class: null,
  seccomp_profile: null,
  user_namespaces: false,
}
const spec = {
  command: ['/bin/sh'],
  environment: {},
  mounts: [],
  memory_folders: [{ inside: '/tmp', bytes: 2 ** 20 }],
  shared_memory_bytes: 2 ** 21,
  user: { uid: 10_001, gid: 10_001 },
  bounds: { max_memory_bytes: 2 ** 30, cpus: 1, max_processes: 100 },
}
const pod = (name = `pod-${++next}`): PodDocument =>
  podDocument(settings, { ...spec, name, labels: { mine: 'yes' } })
const soon = () => AbortSignal.timeout(10_000)
const create = (document = pod(), signal = soon()) =>
  api.call('POST', PODS, { schema: Pod, body: document, signal })
const stored = (name: string) => {
  const found = server.store.find('Pod', 'agentrun-sandboxes', name)
  if (found === undefined) throw new Error(`there is no pod ${name}`)
  return found
}
const creates = ({ verb }: Call) => verb === 'create'

test.each([
  ['is too busy', { status: 429, retry_after: 0 }],
  ['breaks', { status: 500, message: 'etcdserver: request timed out' }],
  ['is restarted', { status: 503 }],
  ['cuts the connection', { status: 0 }],
  [
    'counts a quota at the same moment',
    { status: 409, reason: 'Conflict', message: 'Operation cannot be fulfilled on resourcequotas' },
  ],
])('a call is retried when the server %s', async (_name, how) => {
  server.disturb({ matches: creates, ...how })
  const { metadata } = await create()
  expect(metadata.uid).toMatch(/-/)
  expect(server.calls.filter(creates)).toHaveLength(2)
})

it('waits as long as the server requests, and gives up when there is no more time', async () => {
  server.disturb({ matches: creates, status: 429, message: 'too many requests', retry_after: 60 })
  await expect(create(pod(), AbortSignal.timeout(300))).rejects.toMatchObject({
    status: 429,
    message: 'too many requests',
  })
  expect(server.calls.filter(creates)).toHaveLength(1)
})

it('takes the token that the kubelet has put there since', async () => {
  await create()
  server.replaceToken()
  await create()
  expect(server.calls.filter(creates)).toHaveLength(2)
})

it('reports which server does not respond, or that the token is rejected', async () => {
  await expect(
    createApi({ ...server.access, server: new URL('https://127.0.0.1:1') }).call('GET', PODS, {
      schema: z.unknown(),
      signal: AbortSignal.timeout(500),
    }),
  ).rejects.toThrow(/^the Kubernetes API does not respond: .*ECONNREFUSED/)
  const token_file = `${server.access.token_file}-other`
  writeFileSync(token_file, 'nobody')
  await expect(
    createApi({ ...server.access, token_file }).call('GET', PODS, { schema: z.unknown(), signal: soon() }),
  ).rejects.toMatchObject({ status: 401 })
  rmSync(token_file)
})

it('ignores a response that is cut off, or not from the cluster', async () => {
  server.disturb({ matches: creates, status: 200, body: '<html>' })
  expect((await create()).metadata.uid).toMatch(/-/)
  expect(server.calls.filter(creates)).toHaveLength(2)
})

it('trusts no other server than that of the cluster', async () => {
  await using other = await startFakeApi([], { name: 'x', namespace: 'y' })
  const strange = createApi({ ...server.access, server: other.access.server })
  await expect(
    strange.call('GET', PODS, { schema: z.unknown(), signal: AbortSignal.timeout(500) }),
  ).rejects.toThrow(/certificate/)
  expect(other.calls).toEqual([])
})

test.each([
  [
    'schema',
    { ...pod('misspelt'), spec: { ...pod().spec, hostUsres: false } },
    422,
    '/spec/hostUsres: unknown field',
  ],
  [
    'pod security',
    { ...pod('privileged'), spec: { ...pod().spec, hostNetwork: true } },
    403,
    'violates PodSecurity "restricted:latest": host namespaces',
  ],
  [
    'account',
    { ...pod('nobody'), spec: { ...pod().spec, serviceAccountName: 'nobody' } },
    403,
    'serviceaccount "nobody" not found',
  ],
])('the server of these tests refuses what a cluster would: %s', async (_name, document, status, message) => {
  await expect(create(document as PodDocument)).rejects.toMatchObject({
    status,
    message: expect.stringContaining(message),
  })
})

it('has exactly the permissions in the cluster that the role in our manifests grants', async () => {
  const signal = soon()
  await expect(
    api.call('GET', '/api/v1/namespaces/default/pods', { schema: z.unknown(), signal }),
  ).rejects.toMatchObject({ status: 403 })
  const policy = '/apis/networking.k8s.io/v1/namespaces/agentrun-sandboxes/networkpolicies'
  await expect(
    api.call('DELETE', `${policy}/agentrun-sandboxes-closed`, { schema: z.unknown(), signal }),
  ).rejects.toMatchObject({
    status: 403,
  })
  expect(await api.call('GET', policy, { schema: z.unknown(), signal })).toMatchObject({
    items: [{ metadata: { name: 'agentrun-sandboxes-closed' } }],
  })
})

/** What a follower reports about one pod, in order. */
function listener() {
  const states: (Pod | null)[] = []
  let wake = () => {}
  return {
    states,
    onState(state: Pod | null) {
      states.push(state)
      wake()
    },
    async until(test: (state: Pod | null) => boolean) {
      while (!states.some(test))
        await new Promise<void>(resolve => {
          wake = resolve
        })
    },
  }
}

it('reports a pod from its creation to its end, and ends with the last that is followed', async () => {
  const pods = followPods(api, LABELLED)
  const document = pod()
  const { onState, until, states } = listener()
  const following = pods.follow(document.metadata.name, onState)
  const made = await create(document)
  following.created()
  await until(state => state?.metadata.uid === made.metadata.uid)
  server.store.change(stored(document.metadata.name), { status: { phase: 'Running' } })
  await until(state => state?.status?.phase === 'Running')
  await api.call('DELETE', `${PODS}/${document.metadata.name}`, {
    schema: z.unknown(),
    body: { gracePeriodSeconds: 0 },
    signal: soon(),
  })
  await until(state => state === null)
  expect(states.filter(state => state === null)).toHaveLength(1)
  following.leave()
})

test.each([
  ['the server forgets what came before', () => server.store.compact()],
  ['the stream breaks', () => server.cutWatches()],
  [
    'the server is away for a while',
    () => {
      server.disturb({ matches: ({ verb }) => verb === 'list', status: 503 })
      server.cutWatches()
    },
  ],
])('misses no end of a pod when %s', async (_name, happen) => {
  const pods = followPods(api, LABELLED)
  const [staying, going] = [pod(), pod()]
  const [stays, goes] = [listener(), listener()]
  const following = [
    pods.follow(staying.metadata.name, stays.onState),
    pods.follow(going.metadata.name, goes.onState),
  ]
  for (const document of [staying, going]) await create(document)
  for (const one of following) one.created()
  await Promise.all([stays, goes].map(one => one.until(state => state !== null)))
  server.store.remove(stored(going.metadata.name))
  happen()
  await goes.until(state => state === null)
  server.store.change(stored(staying.metadata.name), { status: { phase: 'Running' } })
  await stays.until(state => state?.status?.phase === 'Running')
  expect(stays.states).not.toContain(null)
  for (const one of following) one.leave()
})

it('a pod that the list does not have yet is not reported as gone', async () => {
  const pods = followPods(api, LABELLED)
  const early = listener()
  const following = pods.follow('early', early.onState)
  const { until, onState } = listener()
  const beside = pods.follow('beside', onState)
  await create(pod('beside'))
  beside.created()
  await until(state => state !== null)
  expect(early.states).toEqual([])
  following.leave()
  beside.leave()
})
