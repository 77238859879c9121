import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { isAlive, waitUntil } from '../../system/processes.ts'
import { systemLinks } from '../bubblewrap/host-files.ts'
import { SandboxError } from '../port.ts'
import { seccompProfile } from '../seccomp/seccomp-profile.ts'
import { settledWithin } from '../settled-within.ts'
import { baseImage } from './base-image.ts'
import { watchUsage } from './container-usage.ts'
import { type Answer, dockerApi } from './docker-api.ts'
import { createRequest } from './docker-container.ts'
import type { Container, ContainerEngine, ContainerSpec } from './engine.ts'

const call_ms = 30_000
/** Docker needs extra time for each container when many end at once. */
const end_ms = 30_000

export type DockerOptions = {
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

/** Creates the engine for Docker or Podman on this machine, over its unix socket. */
export function createDockerEngine(options: DockerOptions): ContainerEngine {
  const api = dockerApi(options.socket)
  const { name } = options
  const base = options.image === null ? baseImage(systemLinks()) : null
  const image = options.image ?? base?.name ?? ''
  const seccomp = name === 'docker' ? seccompProfile() : options.seccomp_file
  let prepared: Promise<void> | undefined

  const request = (method: string, path: string, body?: unknown) => api.call(method, path, { body, timeout_ms: call_ms })
  const refuse = (what: string, answer: Answer) => {
    const engine_message = refusal.safeParse(answer.body).data?.message ?? `it answers ${answer.status}`
    return new SandboxError(explain(`${name} ${what}: ${engine_message.replace(/\s+/g, ' ').trim()}`, options))
  }
  const check = (what: string, answer: Answer) => {
    if (answer.status >= 300 && answer.status !== 304) throw refuse(what, answer)
    return answer
  }

  const prepareOnce = async () => {
    check('does not answer as expected', await request('GET', '/info'))
    const found = await request('GET', `/images/${encodeURIComponent(image)}/json`)
    if (found.status === 404 && base !== null) {
      const [repo = '', tag = ''] = base.name.split(':')
      check('takes no image', await request('POST', `/images/create?fromSrc=-&repo=${repo}&tag=${tag}`, base.tar))
    } else check(`has no image ${image}`, found)
    await removeLeft()
  }
  const prepare = () => {
    prepared ??= prepareOnce().catch(error => {
      prepared = undefined
      throw error
    })
    return prepared
  }

  /** Removes containers that a killed process created and did not start; started ones have ended with it. */
  const removeLeft = async () => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`agentrun.owner=${options.owner}`] }))
    const { body } = check('lists no containers', await request('GET', `/containers/json?all=1&filters=${filters}`))
    for (const { Id, Labels } of listed.parse(body)) if (!isAlive(Number(Labels['agentrun.pid']))) await remove(Id)
  }
  const remove = async (id: string) => {
    const answer = await request('DELETE', `/containers/${id}?force=1&v=1`)
    // 409: another process is removing it.
    if (answer.status !== 404 && answer.status !== 409) check('does not remove a container', answer)
    const gone = await waitUntil(async () => (await request('GET', `/containers/${id}/json`)).status === 404, end_ms, 50)
    if (!gone) throw new SandboxError(`${name} does not remove the container ${id.slice(0, 12)}`)
  }

  const start = async (spec: ContainerSpec): Promise<Container> => {
    await prepare()
    const create = () => request('POST', '/containers/create', createRequest(spec, { ...options, image, seccomp }))
    let creation = await create()
    if (creation.status === 404) {
      // The operator has pruned images, including the service's own.
      prepared = undefined
      await prepare()
      creation = await create()
    }
    const { Id: id } = created.parse(check('cannot make a container', creation).body)
    try {
      const over = api.call('POST', `/containers/${id}/wait?condition=${name === 'docker' ? 'removed' : 'next-exit'}`).catch(() => null)
      check('cannot start a container', await request('POST', `/containers/${id}/start`))
      const { body } = await request('GET', `/containers/${id}/json`)
      return running(id, inspected.safeParse(body).data?.State.Pid ?? 0, over)
    } catch (error) {
      await remove(id).catch(() => {})
      throw error
    }
  }
  const running = (id: string, pid: number, over: Promise<Answer | null>): Container => {
    const usage = watchUsage(pid)
    const identity = [name, readBootId(), id].join(' ')
    usage()
    const ended = over.then(async answer => {
      // An engine that is gone reports nothing more, and its containers may go on.
      await waitUntil(() => pid === 0 || !isAlive(pid), Number.POSITIVE_INFINITY, 50)
      const code = waited.safeParse(answer?.body).data?.StatusCode
      return code === undefined || code === 137
        ? ''
        : `the container ended with exit code ${code} before anything ran in it: ${hint(options)}`
    })
    return {
      identity,
      pid,
      usage,
      ended,
      async stop() {
        usage()
        // It may have ended meanwhile.
        await request('POST', `/containers/${id}/kill`).catch(() => null)
        // Nothing else keeps this process alive until then.
        while (!(await settledWithin(ended, end_ms)));
      },
    }
  }
  return {
    name,
    prepare,
    start,
    async end(identity) {
      const [engine, boot, id = ''] = identity.split(' ')
      if (engine === name && boot === readBootId() && /^[0-9a-f]{12,64}$/.test(id)) await remove(id)
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
  if (runtime !== null && /unknown or invalid runtime|runtime .*not found|invalid runtime name/i.test(engine_message))
    return `${engine_message}: the engine must know the runtime ${runtime}, which AGENTRUN_SANDBOX_RUNTIME names`
  if (/failed to load \S+\/bash: permission denied/.test(engine_message))
    return `the runtime ${runtime ?? 'of the engine'} starts no program that its user may not read, as gVisor does not, and process 1 of a sandbox is one: take AGENTRUN_SANDBOX_RUNTIME away`
  return engine_message
}

const readBootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
