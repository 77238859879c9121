import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createGunzip, type Gunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '../../contract/endpoint.ts'
import { problems } from '../../contract/error-codes.ts'
import { gitOperations } from '../../contract/pull-requests/git-operations.ts'
import type { Log } from '../../core/log.ts'
import { ServiceError } from '../../core/service-error.ts'
import { withTimeout } from '../../core/timeout.ts'
import { requireReach } from '../../service/access/reach.ts'
import type { ActorContext, Context, Services } from '../../service/context.ts'
import {
  fetchGit,
  offerGit,
  pushGit,
  receiveGit,
  requireFetch,
  requirePush,
} from '../../service/forges/git-server.ts'
import type { GitProtocol } from '../../service/forges/git-server-port.ts'
import { admit } from '../admission.ts'
import type { FailedTokens } from '../failed-tokens.ts'
import type { OpenStreams } from '../open-streams.ts'
import { parseInput } from '../parse-input.ts'
import { knownError } from '../problem-response.ts'
import { gitSlots, type Slot } from './git-slots.ts'

type Options = {
  services: Services
  failed: FailedTokens
  /** The clients that are being served: revoking their token ends them. */
  transfers: OpenStreams
  log: Log
  admitted: (request: FastifyRequest, ctx: ActorContext | Context) => void
}

/** How large the request of a fetch may be: thousands of objects, one line each. */
const REQUEST_BYTES = 16 * 1024 * 1024
/**
 * How long a client may send nothing, or take nothing. With less for a body, the client still reads the
 * reason.
 */
const IDLE_TIMEOUT_MS = 60_000
const BODY_IDLE_TIMEOUT_MS = 30_000
/** The time limit for the whole transfer, and for the request of a fetch. */
const TRANSFER_TIMEOUT_MS = 30 * 60_000
const REQUEST_TIMEOUT_MS = 60_000
const SLOTS = {
  total: 12,
  reserved: 4,
  of_organization: 4,
  of_user: 4,
  wait_ms: 20_000,
  patience_ms: 3_000,
  slow_ms: 20_000,
  very_slow_ms: 300_000,
}

/**
 * Adds the routes of git's smart HTTP protocol (specification.md#access): requests are admitted like every
 * other, by the token that git sends as a password. Errors are text, which git shows.
 */
export function addGitRoutes(app: FastifyInstance, options: Options) {
  const transfer = createTransfers(options)
  app.register(async git => {
    git.removeAllContentTypeParsers()
    git.setErrorHandler((error, request, reply) => refuse(reply, knownError(error, request, options.log)))
    for (const service of ['upload-pack', 'receive-pack'])
      git.addContentTypeParser(`application/x-git-${service}-request`, (_request, payload, done) =>
        done(null, payload),
      )
    addInfoRefs(git, transfer)
    addUploadPack(git, transfer)
    addReceivePack(git, transfer)
  })
}

/**
 * `slot`: waits until git may run for this client, once. Bodies arrive before, so that a slow client occupies
 * nothing.
 */
type Transfer = {
  ctx: Context
  repo_id: number
  signal: AbortSignal
  protocol: GitProtocol
  slot: () => Promise<Slot>
}

type Transfers = {
  admit(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<void>
  /**
   * Runs one piece of git's work for a client; it ends when the client disconnects or its token is revoked.
   */
  serve(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (transfer: Transfer) => Promise<void>,
  ): Promise<void>
}

function createTransfers({ services, failed, transfers, admitted }: Options): Transfers {
  const takeSlot = gitSlots(SLOTS)
  const contexts = new WeakMap<FastifyRequest, { ctx: Context; repo_id: number; endpoint: Endpoint }>()
  return {
    async admit(endpoint, request, reply) {
      const ctx = await admit({ services, failed, endpoint }, request, reply, credentialsOf(request))
      admitted(request, ctx)
      const input = parseInput(endpoint, {
        params: request.params,
        query: request.query as Record<string, unknown>,
        body: undefined,
      })
      if (!('organization_id' in ctx)) throw new ServiceError('not_found', 'No such repository.')
      await requireReach(ctx, endpoint, input)
      contexts.set(request, { ctx, repo_id: (input.params as { repo_id: number }).repo_id, endpoint })
    },

    async serve(request, reply, work) {
      const found = contexts.get(request)
      if (!found) throw new ServiceError('unauthorized', 'The token is missing.')
      const { ctx, repo_id, endpoint } = found
      const gone = new AbortController()
      const { socket } = request.raw
      reply.raw.once('close', () => gone.abort(new ServiceError('unavailable', 'The client disconnected.')))
      const owner = { organization_id: ctx.organization_id, user_id: ctx.actor.user_id }
      let held: Slot | null = null
      const slot = async () => {
        held = await takeSlot(owner)
        gone.signal.throwIfAborted()
        return held
      }
      const transfer = {
        ...owner,
        token_id: ctx.actor.token_id,
        scope: endpoint.scope,
        end: () => void socket.destroy(),
      }
      transfers.add(transfer)
      const limit = setTimeout(transfer.end, TRANSFER_TIMEOUT_MS)
      try {
        gone.signal.throwIfAborted()
        await work({ ctx, repo_id, signal: gone.signal, protocol: protocolOf(request), slot })
      } finally {
        clearTimeout(limit)
        transfers.delete(transfer)
        ;(held as Slot | null)?.release()
      }
    },
  }
}

function addInfoRefs(git: FastifyInstance, transfer: Transfers) {
  git.get(routeOf(gitOperations.gitInfoRefs), {
    onRequest: (request, reply) => {
      const pushes = (request.query as { service?: unknown }).service === 'git-receive-pack'
      const endpoint = pushes
        ? { ...gitOperations.gitInfoRefs, scope: gitOperations.gitReceivePack.scope }
        : gitOperations.gitInfoRefs
      return transfer.admit(endpoint, request, reply)
    },
    handler: async (request, reply) => {
      const { service } = request.query as { service: 'git-upload-pack' | 'git-receive-pack' }
      await transfer.serve(request, reply, async ({ ctx, repo_id, protocol, slot }) => {
        await slot()
        const offer = await offerGit(ctx, repo_id, service === 'git-upload-pack' ? 'fetch' : 'push', protocol)
        await reply.type(`application/x-${service}-advertisement`).send(offer)
      })
      return reply
    },
  })
}

function addUploadPack(git: FastifyInstance, transfer: Transfers) {
  git.post(routeOf(gitOperations.gitUploadPack), {
    config: { streams_body: true },
    onRequest: (request, reply) => transfer.admit(gitOperations.gitUploadPack, request, reply),
    handler: async (request, reply) => {
      const { socket } = request.raw
      socket.setTimeout(IDLE_TIMEOUT_MS)
      await transfer.serve(request, reply, async ({ ctx, repo_id, slot, ...options }) => {
        await requireFetch(ctx, repo_id)
        const late = setTimeout(() => socket.destroy(), REQUEST_TIMEOUT_MS)
        await using upload = await receiveGit(ctx, bodyOf(request), REQUEST_BYTES).finally(() =>
          clearTimeout(late),
        )
        if (!upload.is_whole) throw new ServiceError('payload_too_large', 'The request is too large.')
        const { yields } = await slot()
        const { output, done } = await fetchGit(ctx, repo_id, upload, options)
        begin(reply, 'upload-pack')
        yields(() => socket.destroy())
        // The response has begun, so an error can only be reported by cutting it off.
        const [, ended] = await Promise.allSettled([pipeline(output, reply.raw), done])
        if (ended.status === 'rejected') reply.raw.destroy()
      })
      return reply
    },
  })
}

function addReceivePack(git: FastifyInstance, transfer: Transfers) {
  git.post(routeOf(gitOperations.gitReceivePack), {
    config: { streams_body: true },
    onRequest: (request, reply) => transfer.admit(gitOperations.gitReceivePack, request, reply),
    handler: async (request, reply) => {
      const { socket } = request.raw
      socket.setTimeout(IDLE_TIMEOUT_MS)
      // After the body comes the service's own work, which has no time limit here.
      request.raw.once('end', () => socket.setTimeout(0))
      await transfer.serve(request, reply, async ({ ctx, repo_id, signal, slot }) => {
        await requirePush(ctx, repo_id)
        await using upload = await receiveGit(ctx, bodyOf(request))
        await slot()
        const report = await pushGit(ctx, repo_id, upload, signal)
        await reply.type('application/x-git-receive-pack-result').send(report)
      })
      return reply
    },
  })
}

const routeOf = ({ path }: Endpoint) => path.replace(/\{(\w+)\}/g, ':$1')

/**
 * Git sends the token as a password with any user name; clients that set the header themselves send a bearer
 * token.
 */
function credentialsOf(request: FastifyRequest): string[] {
  return (request.raw.headersDistinct.authorization ?? []).map(header => {
    const [, basic] = /^Basic ([A-Za-z0-9+/]{1,1000}={0,2})$/i.exec(header) ?? []
    if (basic === undefined) return header
    const text = Buffer.from(basic, 'base64').toString('latin1')
    return `Bearer ${text.slice(text.indexOf(':') + 1)}`
  })
}

/** Only the version number of the header is used. */
function protocolOf({ headers }: FastifyRequest): GitProtocol {
  const parameters = String(headers['git-protocol'] ?? '').split(':')
  return parameters.includes('version=2') ? 2 : parameters.includes('version=1') ? 1 : 0
}

/**
 * Yields the body as git wrote it, unpacked as it is read: the reader limits its unpacked size. Throws 400
 * when it is truncated, stops or is not gzip. A reader that stops early leaves the request open, so that its
 * response still arrives.
 */
async function* bodyOf(request: FastifyRequest): AsyncGenerator<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  const body = request.body as Readable | undefined
  if (!body) throw new ServiceError('invalid_request', 'This is not a request of git.')
  if (!/^(identity|(x-)?gzip)$/i.test(encoding))
    throw new ServiceError('unsupported_media_type', 'A body must be uncompressed or compressed with gzip.')
  const plain = /^identity$/i.test(encoding) ? body : unpacked(body)
  try {
    const chunks = plain.iterator({ destroyOnReturn: plain !== body })
    for (;;) {
      const next = await withTimeout(chunks.next(), BODY_IDLE_TIMEOUT_MS, idle)
      if (next.done) return
      yield next.value as Buffer
    }
  } catch (error) {
    if (plain !== body) plain.destroy()
    throw new ServiceError(
      'invalid_request',
      `The body cannot be read: ${error instanceof Error ? error.message : error}.`,
    )
  }
}

const idle = (): never => {
  throw new Error(`nothing arrived for ${BODY_IDLE_TIMEOUT_MS / 1_000} seconds`)
}

/** Does not use `pipeline`, which would destroy the request when its body cannot be unpacked. */
function unpacked(body: Readable): Gunzip {
  const plain = createGunzip()
  finished(body, { writable: false }).catch(error => plain.destroy(error))
  return body.pipe(plain)
}

/** Starts the response, whose body is git's own. */
function begin(reply: FastifyReply, service: string) {
  const headers = Object.fromEntries(
    Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined),
  ) as Record<string, string>
  reply.hijack()
  reply.raw.writeHead(200, { ...headers, 'content-type': `application/x-git-${service}-result` })
}

/** Git shows the text, and prompts for a name and a password on a Basic challenge. */
function refuse(reply: FastifyReply, { code, message, headers }: ServiceError) {
  return reply
    .code(problems[code].status)
    .headers({
      ...headers,
      ...(code === 'unauthorized' && { 'www-authenticate': 'Basic realm="agentrun", charset="UTF-8"' }),
    })
    .type('text/plain; charset=utf-8')
    .send(`${message}\n`)
}
