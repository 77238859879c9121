import type { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createGunzip, type Gunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '../../contract/endpoint.ts'
import { problems } from '../../contract/problem.ts'
import { gitOperations } from '../../contract/pull-requests/git-operations.ts'
import type { Log } from '../../core/log.ts'
import { ServiceError } from '../../core/service-error.ts'
import { requireReach } from '../../service/access/reach.ts'
import type { ActorContext, Context, Services } from '../../service/context.ts'
import { fetchGit, type GitProtocol, offerGit, pushGit } from '../../service/forges/git-server.ts'
import { admit } from '../admission.ts'
import type { FailedTokens } from '../failed-tokens.ts'
import type { OpenStreams } from '../open-streams.ts'
import { parseInput } from '../parse-input.ts'
import { knownError } from '../problem-response.ts'
import { gitSlots } from './git-slots.ts'

type Options = {
  services: Services
  failed: FailedTokens
  /** Clients that are being served: a revoked token ends them. */
  transfers: OpenStreams
  log: Log
  admitted: (request: FastifyRequest, ctx: ActorContext | Context) => void
}

/** What a client that fetches may ask for in one request: thousands of objects, each by a line. */
const REQUEST_BYTES = 16 * 1024 * 1024
/** How long a client may send nothing, or take nothing. */
const IDLE_MS = 60_000
/** How long it may take in all, and how long until it has said what it wants to fetch. */
const LONGEST_MS = 30 * 60_000
const ASKING_MS = 60_000
const SLOTS = { total: 8, of_user: 4, wait_ms: 20_000 }

/** Git's smart HTTP protocol (specification.md#access): let in like every request, by the token that git sends as a password; errors are text, which git shows. */
export function addGitRoutes(app: FastifyInstance, { services, failed, transfers, log, admitted }: Options) {
  const takeSlot = gitSlots(SLOTS)
  const contexts = new WeakMap<FastifyRequest, { ctx: Context; repo_id: number; endpoint: Endpoint }>()

  async function letIn(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply) {
    const ctx = await admit(services, failed, endpoint, request, reply, passwordsOf(request))
    admitted(request, ctx)
    const input = parseInput(endpoint, { params: request.params, query: request.query as Record<string, unknown>, body: undefined })
    if (!('organization_id' in ctx)) throw new ServiceError('not_found', 'No such repository.')
    await requireReach(ctx, endpoint, input)
    contexts.set(request, { ctx, repo_id: (input.params as { repo_id: number }).repo_id, endpoint })
  }

  /** One piece of git's work for a client, ended when the client leaves or its token is no longer good. */
  async function serve(request: FastifyRequest, reply: FastifyReply, work: (asked: Asked) => Promise<void>) {
    const found = contexts.get(request)
    if (!found) throw new ServiceError('unauthorized', 'The token is missing.')
    const { ctx, repo_id, endpoint } = found
    const gone = new AbortController()
    const { socket } = request.raw
    const leave = () => gone.abort(new ServiceError('unavailable', 'The client left.'))
    reply.raw.once('close', leave)
    const release = await takeSlot(ctx.actor.user_id)
    const transfer = {
      ...{ token_id: ctx.actor.token_id, organization_id: ctx.organization_id, scope: endpoint.scope },
      end: () => void socket.destroy(),
    }
    transfers.add(transfer)
    const limit = setTimeout(transfer.end, LONGEST_MS)
    try {
      gone.signal.throwIfAborted()
      await work({ ctx, repo_id, signal: gone.signal, protocol: protocolOf(request) })
    } finally {
      clearTimeout(limit)
      transfers.delete(transfer)
      release()
    }
  }

  app.register(async git => {
    git.removeAllContentTypeParsers()
    git.setErrorHandler((error, request, reply) => refuse(reply, knownError(error, request, log)))
    for (const service of ['upload-pack', 'receive-pack'])
      git.addContentTypeParser(`application/x-git-${service}-request`, (_request, payload, done) => done(null, payload))

    git.get(routeOf(gitOperations.gitInfoRefs), {
      onRequest: (request, reply) => {
        const pushes = (request.query as { service?: unknown }).service === 'git-receive-pack'
        return letIn(
          pushes ? { ...gitOperations.gitInfoRefs, scope: gitOperations.gitReceivePack.scope } : gitOperations.gitInfoRefs,
          request,
          reply,
        )
      },
      handler: async (request, reply) => {
        const { service } = request.query as { service: 'git-upload-pack' | 'git-receive-pack' }
        await serve(request, reply, async ({ ctx, repo_id, protocol }) => {
          const offer = await offerGit(ctx, repo_id, service === 'git-upload-pack' ? 'fetch' : 'push', protocol)
          await reply.type(`application/x-${service}-advertisement`).send(offer)
        })
        return reply
      },
    })

    git.post(routeOf(gitOperations.gitUploadPack), {
      config: { streams_body: true },
      onRequest: (request, reply) => letIn(gitOperations.gitUploadPack, request, reply),
      handler: async (request, reply) => {
        const { socket } = request.raw
        socket.setTimeout(IDLE_MS)
        await serve(request, reply, async ({ ctx, repo_id, ...options }) => {
          const late = setTimeout(() => socket.destroy(), ASKING_MS)
          const asked = await wholeBody(bodyOf(request)).finally(() => clearTimeout(late))
          const { output, done } = await fetchGit(ctx, repo_id, asked, options)
          begin(reply, 'upload-pack')
          // The client sees that an answer was cut off; there is nothing left to say it with.
          const [, ended] = await Promise.allSettled([pipeline(output, reply.raw), done])
          if (ended.status === 'rejected') reply.raw.destroy()
        })
        return reply
      },
    })

    git.post(routeOf(gitOperations.gitReceivePack), {
      config: { streams_body: true },
      onRequest: (request, reply) => letIn(gitOperations.gitReceivePack, request, reply),
      handler: async (request, reply) => {
        const { socket } = request.raw
        socket.setTimeout(IDLE_MS)
        // What comes then is the service's own work, which takes as long as it takes.
        request.raw.once('end', () => socket.setTimeout(0))
        await serve(request, reply, async ({ ctx, repo_id, signal }) => {
          const report = await pushGit(ctx, repo_id, bodyOf(request), signal)
          await reply.type('application/x-git-receive-pack-result').send(report)
        })
        return reply
      },
    })
  })
}

type Asked = { ctx: Context; repo_id: number; signal: AbortSignal; protocol: GitProtocol }

const routeOf = ({ path }: Endpoint) => path.replace(/\{(\w+)\}/g, ':$1')

/** Git sends what it is given as a password, with any name before it; those who set a header send the token as everywhere. */
function passwordsOf(request: FastifyRequest): string[] {
  return (request.raw.headersDistinct.authorization ?? []).map(header => {
    const [, basic] = /^Basic ([A-Za-z0-9+/]{1,1000}={0,2})$/i.exec(header) ?? []
    if (basic === undefined) return header
    const text = Buffer.from(basic, 'base64').toString('latin1')
    return `Bearer ${text.slice(text.indexOf(':') + 1)}`
  })
}

/** Of what the header says only the number is used. */
function protocolOf({ headers }: FastifyRequest): GitProtocol {
  const said = String(headers['git-protocol'] ?? '').split(':')
  return said.includes('version=2') ? 2 : said.includes('version=1') ? 1 : 0
}

/**
 * The body as git wrote it, unpacked as it is read: who reads it bounds it by what it has become. 400 when it is cut off or no gzip.
 * A reader that stops early leaves the request open, so that its response still arrives.
 */
async function* bodyOf(request: FastifyRequest): AsyncGenerator<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  const body = request.body as Readable | undefined
  if (!body) throw new ServiceError('invalid_request', 'This is not a request of git.')
  if (!/^(identity|(x-)?gzip)$/i.test(encoding))
    throw new ServiceError('unsupported_media_type', 'A body is taken as it is, or compressed with gzip.')
  const plain = /^identity$/i.test(encoding) ? body : unpacked(body)
  try {
    for await (const chunk of plain.iterator({ destroyOnReturn: plain !== body })) yield chunk as Buffer
  } catch (error) {
    throw new ServiceError('invalid_request', `The body cannot be read: ${error instanceof Error ? error.message : error}.`)
  }
}

/** Not by `pipeline`, which would destroy the request together with what it cannot unpack. */
function unpacked(body: Readable): Gunzip {
  const plain = createGunzip()
  finished(body, { writable: false }).catch(error => plain.destroy(error))
  return body.pipe(plain)
}

async function wholeBody(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > REQUEST_BYTES) throw new ServiceError('payload_too_large', 'Nobody asks for that much at once.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** From here on the answer is git's own. */
function begin(reply: FastifyReply, service: string) {
  const headers = Object.fromEntries(Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >
  reply.hijack()
  reply.raw.writeHead(200, { ...headers, 'content-type': `application/x-git-${service}-result` })
}

/** Git shows a text. It asks for a name and a password when it is told so. */
function refuse(reply: FastifyReply, { code, message, headers }: ServiceError) {
  return reply
    .code(problems[code].status)
    .headers({ ...headers, ...(code === 'unauthorized' && { 'www-authenticate': 'Basic realm="agentrun", charset="UTF-8"' }) })
    .type('text/plain; charset=utf-8')
    .send(`${message}\n`)
}
