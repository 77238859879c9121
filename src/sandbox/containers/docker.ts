import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { settledWithin } from '../../core/timeout.ts'
import { isAlive, waitUntil } from '../../system/processes.ts'
import { systemLinks } from '../bubblewrap/host-files.ts'
import { SandboxError } from '../port.ts'
import { seccompProfile } from '../seccomp/seccomp-profile.ts'
import { baseImage } from './base-image.ts'
import { watchUsage } from './container-usage.ts'
import { type DockerApi, dockerApi, type EngineResponse } from './docker-api.ts'
import { createRequest } from './docker-container.ts'
import type { Container, ContainerEngine, ContainerSpec } from './engine.ts'

const call_ms = 30_000
/** Docker needs extra time for each container when many end at once. */
const end_ms = 30_000

type DockerOptions = {
  name: 'docker' | 'podman'
  socket: string
  /** Null: an empty one, into which the programs of the host are mounted. */
  image: string | null
  /** The engine's name of the container runtime, `runsc` for instance; null: its default. */
  runtime: string | null
  /** Distinguishes services on one machine, so that none ends containers of another. */
  owner: string
  /** Where the seccomp profile is written for an engine that reads it from a file. */
  seccomp_file: string
}

// The parts of the engine's responses that are used.
const refusal = z.object({ message: z.string() })
const created = z.object({ Id: z.string() })
const inspected = z.object({ State: z.object({ Pid: z.number() }) })
const waited = z.object({ StatusCode: z.number() })
const listed = z.array(z.object({ Id: z.string(), Labels: z.record(z.string(), z.string()) }))

/**
 * The connection to an engine, and what its containers have in common. `base`: the service's own image,
 * unless the operator names one.
 */
type Engine = {
  readonly options: DockerOptions
  readonly api: DockerApi
  readonly image: string
  readonly base: ReturnType<typeof baseImage> | null
  readonly seccomp: string
  prepared: Promise<void> | undefined
}

/** Creates the engine for Docker or Podman on this machine, over its unix socket. */
export function createDockerEngine(options: DockerOptions): ContainerEngine {
  const { name } = options
  const base = options.image === null ? baseImage(systemLinks()) : null
  const seccomp = name === 'docker' ? seccompProfile() : options.seccomp_file
  const image = options.image ?? base?.name ?? ''
  const engine: Engine = {
    options,
    api: dockerApi(options.socket),
    image,
    base,
    seccomp,
    prepared: undefined,
  }
  return {
    name,
    prepare: () => prepare(engine),
    start: spec => startContainer(engine, spec),
    async end(identity) {
      const [of_engine, boot, id = ''] = identity.split(' ')
      if (of_engine === name && boot === readBootId() && /^[0-9a-f]{12,64}$/.test(id))
        await remove(engine, id)
    },
  }
}

const request = ({ api }: Engine, method: string, path: string, body?: unknown) =>
  api.call(method, path, { body, timeout_ms: call_ms })

/** Throws SandboxError for a refusal of the engine. */
function check({ options }: Engine, what: string, response: EngineResponse): EngineResponse {
  if (response.status < 300 || response.status === 304) return response
  const engine_message =
    refusal.safeParse(response.body).data?.message ?? `it responded with ${response.status}`
  throw new SandboxError(
    explain(`${options.name} ${what}: ${engine_message.replace(/\s+/g, ' ').trim()}`, options),
  )
}

/** Once, unless it fails. */
function prepare(engine: Engine): Promise<void> {
  engine.prepared ??= prepareOnce(engine).catch(error => {
    engine.prepared = undefined
    throw error
  })
  return engine.prepared
}

async function prepareOnce(engine: Engine): Promise<void> {
  const { image, base } = engine
  check(engine, 'does not respond as expected', await request(engine, 'GET', '/info'))
  const found = await request(engine, 'GET', `/images/${encodeURIComponent(image)}/json`)
  if (found.status === 404 && base !== null) {
    const [repo = '', tag = ''] = base.name.split(':')
    check(
      engine,
      'takes no image',
      await request(engine, 'POST', `/images/create?fromSrc=-&repo=${repo}&tag=${tag}`, base.tar),
    )
  } else check(engine, `has no image ${image}`, found)
  await removeLeft(engine)
}

/** Removes containers that a killed process created and did not start; started ones have ended with it. */
async function removeLeft(engine: Engine): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`agentrun.owner=${engine.options.owner}`] }))
  const { body } = check(
    engine,
    'lists no containers',
    await request(engine, 'GET', `/containers/json?all=1&filters=${filters}`),
  )
  for (const { Id, Labels } of listed.parse(body))
    if (!isAlive(Number(Labels['agentrun.pid']))) await remove(engine, Id)
}

async function remove(engine: Engine, id: string): Promise<void> {
  const response = await request(engine, 'DELETE', `/containers/${id}?force=1&v=1`)
  // 409: another process is removing it.
  if (response.status !== 404 && response.status !== 409)
    check(engine, 'does not remove a container', response)
  const gone = await waitUntil(
    async () => (await request(engine, 'GET', `/containers/${id}/json`)).status === 404,
    end_ms,
    50,
  )
  if (!gone) throw new SandboxError(`${engine.options.name} does not remove the container ${id.slice(0, 12)}`)
}

async function startContainer(engine: Engine, spec: ContainerSpec): Promise<Container> {
  const { options, api, image, seccomp } = engine
  await prepare(engine)
  const create = () =>
    request(engine, 'POST', '/containers/create', createRequest(spec, { ...options, image, seccomp }))
  let creation = await create()
  if (creation.status === 404) {
    // The operator has pruned images, including the service's own.
    engine.prepared = undefined
    await prepare(engine)
    creation = await create()
  }
  const { Id: id } = created.parse(check(engine, 'cannot create a container', creation).body)
  try {
    const condition = options.name === 'docker' ? 'removed' : 'next-exit'
    const over = api.call('POST', `/containers/${id}/wait?condition=${condition}`).catch(() => null)
    check(engine, 'cannot start a container', await request(engine, 'POST', `/containers/${id}/start`))
    const { body } = await request(engine, 'GET', `/containers/${id}/json`)
    return running(engine, id, inspected.safeParse(body).data?.State.Pid ?? 0, over)
  } catch (error) {
    await remove(engine, id).catch(() => {})
    throw error
  }
}

function running(engine: Engine, id: string, pid: number, over: Promise<EngineResponse | null>): Container {
  const usage = watchUsage(pid)
  const identity = [engine.options.name, readBootId(), id].join(' ')
  usage()
  const ended = over.then(async response => {
    // An engine that is gone reports nothing more, and its containers may continue.
    await waitUntil(() => pid === 0 || !isAlive(pid), Number.POSITIVE_INFINITY, 50)
    const code = waited.safeParse(response?.body).data?.StatusCode
    return code === undefined || code === 137
      ? ''
      : `the container ended with exit code ${code} before anything ran in it: ${hint(engine.options)}`
  })
  return {
    identity,
    pid,
    usage,
    ended,
    async stop() {
      usage()
      // It may have ended meanwhile.
      await request(engine, 'POST', `/containers/${id}/kill`).catch(() => null)
      // Nothing else keeps this process alive until then.
      while (!(await settledWithin(ended, end_ms)));
    },
  }
}

const hint = ({ image }: DockerOptions) =>
  image === null
    ? 'do the programs of this machine run in it?'
    : `the image ${image} must have /opt/agentrun/bash and what deploy/sandbox/Dockerfile installs`

/** Adds a remedy to an error of the engine. */
function explain(engine_message: string, { image, runtime }: DockerOptions): string {
  if (/no such image|image not known/i.test(engine_message) && image !== null)
    return `${engine_message}: pull or build it, AGENTRUN_SANDBOX_IMAGE names it`
  if (
    runtime !== null &&
    /unknown or invalid runtime|runtime .{0,200}not found|invalid runtime name/i.test(engine_message)
  )
    return `${engine_message}: the engine must know the runtime ${runtime}, which AGENTRUN_SANDBOX_RUNTIME names`
  if (/failed to load \S+\/bash: permission denied/.test(engine_message))
    return `the runtime ${runtime ?? 'of the engine'} starts no program that its user may not read, as gVisor does not, and process 1 of a sandbox is one: take AGENTRUN_SANDBOX_RUNTIME away`
  return engine_message
}

const readBootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
