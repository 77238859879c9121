import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { IPod } from 'kubernetes-models/v1/Pod'
import type { ApiAccess } from '../../../src/sandbox/kubernetes/api.ts'
import { listen } from '../../egress/servers.ts'
import { restrictedViolations } from './pod-security.ts'
import { isAllowed } from './rules.ts'
import { type KubernetesObject, schemaFaults } from './schemas.ts'
import { Store, type StoredObject } from './store.ts'

/**
 * How the next call that `matches` gets a response instead. `status` 0: the connection is cut; `done`: after
 * the call was carried out.
 */
export type Disturbance = {
  matches(call: Call): boolean
  status: number
  reason?: string
  message?: string
  retry_after?: number
  done?: boolean
  /** The whole response. */
  body?: string
}
export type Call = {
  verb: string
  group: string
  resource: string
  namespace: string
  name: string | null
  watch: boolean
}

export type FakeApi = AsyncDisposable & {
  access: ApiAccess
  store: Store
  calls: Call[]
  /** A new token in the service account's file; the old one is rejected from then on. */
  replaceToken(): void
  disturb(disturbance: Disturbance): void
  /** Ends each watch that is open, as a server that is restarted does. */
  cutWatches(): void
}

class Refusal extends Error {
  readonly code: number
  readonly reason: string
  readonly retry_after: number | undefined
  constructor(code: number, reason: string, message: string, retry_after?: number) {
    super(message)
    this.code = code
    this.reason = reason
    this.retry_after = retry_after
  }
}

/**
 * The part of an API server of Kubernetes that our drivers and manifests use. It takes nothing which a strict
 * one would refuse: tokens, roles, schemas, unknown fields, the pod security of the namespace, quotas of
 * pods. `account`: whose token it gives out.
 */
export async function startFakeApi(
  objects: KubernetesObject[],
  account: { name: string; namespace: string },
): Promise<FakeApi> {
  const folder = mkdtempSync(join(tmpdir(), 'kubernetes-test-'))
  const files = {
    key: join(folder, 'key'),
    ca_file: join(folder, 'ca.crt'),
    token_file: join(folder, 'token'),
  }
  const subject = ['-subj', '/CN=kubernetes', '-addext', 'subjectAltName=IP:127.0.0.1']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execFileSync(
    'openssl',
    ['req', '-x509', ...curve, '-nodes', ...subject, '-keyout', files.key, '-out', files.ca_file],
    {
      stdio: 'ignore',
    },
  )
  const store = new Store()
  for (const object of objects) store.add(object)
  const calls: Call[] = []
  const disturbances: Disturbance[] = []
  const watches = new Set<ServerResponse>()
  let token = ''
  const replaceToken = () => {
    token = crypto.randomUUID()
    writeFileSync(files.token_file, token)
  }
  replaceToken()

  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.authorization !== `Bearer ${token}`)
      throw new Refusal(401, 'Unauthorized', 'Unauthorized')
    const url = new URL(request.url ?? '', 'https://kubernetes')
    const call = readCall(request.method ?? '', url)
    calls.push(call)
    const found = disturbances.findIndex(disturbance => disturbance.matches(call))
    const [disturbance] = found < 0 ? [] : disturbances.splice(found, 1)
    const disturbed = () => {
      if (disturbance?.status === 0) request.socket.destroy()
      if (disturbance?.body !== undefined) response.end(disturbance.body)
      if (disturbance)
        throw new Refusal(
          disturbance.status,
          disturbance.reason ?? '',
          disturbance.message ?? 'disturbed',
          disturbance.retry_after,
        )
    }
    if (!disturbance?.done) disturbed()
    if (!isAllowed(store.everything(), { ...call, account }))
      throw new Refusal(
        403,
        'Forbidden',
        `${call.resource} is forbidden: User "system:serviceaccount:${account.namespace}:${account.name}" cannot ${call.verb} resource "${call.resource}" in API group "${call.group}" in the namespace "${call.namespace}"`,
      )
    const body = await text(request)
    const sent = body === '' ? null : JSON.parse(body)
    if (call.watch) return watch(store, call, url, response, watches)
    const result = carryOut(store, call, url, sent)
    disturbed()
    json(response, call.verb === 'create' ? 201 : 200, result)
  }
  const server = createServer(
    { key: readFileSync(files.key), cert: readFileSync(files.ca_file) },
    (request, response) => {
      reply(request, response).catch(error => {
        const { code, reason, message, retry_after } =
          error instanceof Refusal ? error : new Refusal(500, 'InternalError', String(error))
        if (retry_after !== undefined && !response.headersSent)
          response.setHeader('retry-after', String(retry_after))
        if (code > 0 && !response.writableEnded)
          json(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code })
      })
    },
  )
  const running = await listen(server, '127.0.0.1', 0)
  const cutWatches = () => {
    for (const response of watches) response.destroy()
  }
  return {
    access: {
      server: new URL(`https://127.0.0.1:${running.port}`),
      ca_file: files.ca_file,
      token_file: files.token_file,
    },
    store,
    calls,
    replaceToken,
    cutWatches,
    disturb: disturbance => void disturbances.push(disturbance),
    async [Symbol.asyncDispose]() {
      cutWatches()
      await running[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function json(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

const KINDS: Record<string, string> = { pods: 'Pod', networkpolicies: 'NetworkPolicy' }

function readCall(method: string, url: URL): Call {
  const [, group = '', namespace = '', resource = '', name = null] =
    /^\/(?:api|apis\/([^/]+))\/v1\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(url.pathname) ?? []
  const watch = url.searchParams.get('watch') === 'true'
  const verbs: Record<string, string> = {
    POST: 'create',
    DELETE: 'delete',
    GET: name !== null ? 'get' : watch ? 'watch' : 'list',
  }
  const verb = verbs[method]
  if (KINDS[resource] === undefined || verb === undefined)
    throw new Refusal(404, 'NotFound', 'the server could not find the requested resource')
  return { verb, group, resource, namespace, name, watch }
}

function carryOut(store: Store, call: Call, url: URL, body: unknown): unknown {
  const kind = KINDS[call.resource] ?? ''
  if (call.verb === 'list')
    return {
      kind: `${kind}List`,
      metadata: { resourceVersion: String(store.version) },
      items: select(store.all(kind, call.namespace), url),
    }
  if (call.verb === 'create') return create(store, call, body as KubernetesObject)
  const found = store.find(kind, call.namespace, call.name ?? '')
  if (found === undefined) throw new Refusal(404, 'NotFound', `${call.resource} "${call.name}" not found`)
  if (call.verb === 'get') return found
  return remove(
    store,
    found as StoredObject & IPod,
    body as { gracePeriodSeconds?: number; preconditions?: { uid?: string } } | null,
  )
}

function create(store: Store, { namespace }: Call, sent: KubernetesObject): StoredObject {
  const object = { ...sent, metadata: { ...sent.metadata, namespace } }
  const faults = schemaFaults(sent)
  if (faults.length > 0)
    throw new Refusal(422, 'Invalid', `${sent.kind} "${sent.metadata.name}" is invalid: ${faults.join('; ')}`)
  if (store.find(object.kind, namespace, object.metadata.name))
    throw new Refusal(409, 'AlreadyExists', `pods "${object.metadata.name}" already exists`)
  const forbid = (why: string) => {
    throw new Refusal(403, 'Forbidden', `pods "${object.metadata.name}" is forbidden: ${why}`)
  }
  const pod = object as IPod
  const level = store.find('Namespace', '', namespace)?.metadata.labels?.[
    'pod-security.kubernetes.io/enforce'
  ]
  const violations = level === 'restricted' ? restrictedViolations(pod) : []
  if (violations.length > 0) forbid(`violates PodSecurity "restricted:latest": ${violations.join(', ')}`)
  const account = pod.spec?.serviceAccountName ?? 'default'
  if (!store.find('ServiceAccount', namespace, account))
    forbid(`error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`)
  if (pod.spec?.runtimeClassName !== undefined)
    forbid(`pod rejected: RuntimeClass "${pod.spec.runtimeClassName}" not found`)
  for (const quota of store.all('ResourceQuota', namespace) as (StoredObject & {
    spec?: { hard?: Record<string, string> }
  })[]) {
    const most = Number(quota.spec?.hard?.pods ?? Number.POSITIVE_INFINITY)
    const used = store.all('Pod', namespace).length
    if (used >= most)
      forbid(
        `exceeded quota: ${quota.metadata.name}, requested: pods=1, used: pods=${used}, limited: pods=${most}`,
      )
  }
  return store.add({ ...object, status: { phase: 'Pending' } } as KubernetesObject)
}

/**
 * Without grace the API removes it immediately, regardless of its node; otherwise the node reports its end.
 */
function remove(
  store: Store,
  pod: StoredObject & IPod,
  options: { gracePeriodSeconds?: number; preconditions?: { uid?: string } } | null,
): StoredObject {
  const uid = options?.preconditions?.uid
  if (uid !== undefined && uid !== pod.metadata.uid)
    throw new Refusal(
      409,
      'Conflict',
      `the UID in the precondition (${uid}) does not match the UID in record (${pod.metadata.uid})`,
    )
  const grace = options?.gracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30
  const over =
    pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded' || pod.spec?.nodeName === undefined
  if (grace > 0 && !over) {
    const metadata = {
      ...pod.metadata,
      deletionTimestamp: new Date().toISOString(),
      deletionGracePeriodSeconds: grace,
    }
    return store.change(pod, { metadata }) ?? pod
  }
  store.remove(pod)
  return pod
}

function select<T extends StoredObject>(objects: T[], url: URL): T[] {
  const wanted = (url.searchParams.get('labelSelector') ?? '')
    .split(',')
    .filter(Boolean)
    .map(pair => pair.split('='))
  return objects.filter(({ metadata }) =>
    wanted.every(([name = '', value]) => metadata.labels?.[name] === value),
  )
}

function watch(
  store: Store,
  { resource, namespace }: Call,
  url: URL,
  response: ServerResponse,
  watches: Set<ServerResponse>,
): void {
  let version = Number(url.searchParams.get('resourceVersion'))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  watches.add(response)
  const writeEvent = (type: string, object: unknown) =>
    response.write(`${JSON.stringify({ type, object })}\n`)
  const notify = () => {
    const changes = store.since(version)
    if (changes === null) {
      writeEvent('ERROR', {
        kind: 'Status',
        status: 'Failure',
        reason: 'Expired',
        code: 410,
        message: `too old resource version: ${version}`,
      })
      return response.end()
    }
    for (const change of changes) {
      version = change.version
      const { object } = change
      if (
        object.kind === KINDS[resource] &&
        object.metadata.namespace === namespace &&
        select([object], url).length > 0
      )
        writeEvent(change.type, object)
    }
  }
  const leave = store.onNews(notify)
  const ends = setTimeout(
    () => response.end(),
    Number(url.searchParams.get('timeoutSeconds') ?? 1_800) * 1_000,
  )
  response.once('close', () => {
    watches.delete(response)
    clearTimeout(ends)
    leave()
  })
  if (url.searchParams.get('allowWatchBookmarks') === 'true')
    writeEvent('BOOKMARK', { kind: KINDS[resource], metadata: { resourceVersion: String(version) } })
  notify()
}
