import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { deadline } from '../../core/deadline.ts'
import { parseJson } from '../../core/json/parse-json.ts'
import { pause } from '../../core/pause.ts'
import { exponential, retryDelay } from '../../core/retry-policy.ts'

/** Where the API server is, and the files of the service account, which the kubelet replaces at run time. */
export type ApiAccess = { server: URL; ca_file: string; token_file: string }

/** A refusal of the API server. `status` 0: it did not respond at all. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** The reason in Kubernetes' terms, such as `AlreadyExists`; empty when there is none. */
  readonly reason: string
  readonly retry_after_ms: number | null
  constructor(status: number, reason: string, message: string, retry_after_ms: number | null = null) {
    super(message)
    this.status = status
    this.reason = reason
    this.retry_after_ms = retry_after_ms
  }
}

/** A bookmark only reports up to which version the events have come. */
type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; object: { metadata: { resourceVersion: string } } }
type CallOptions<T> = { schema: z.ZodType<T>; body?: object; signal: AbortSignal }

export type KubernetesApi = {
  /**
   * Returns the object of the response, parsed by `schema`. While the server is unavailable or busy, or
   * requests it, the call is retried until `signal` aborts; then, and on any other refusal, it throws
   * ApiError.
   */
  call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, options: CallOptions<T>): Promise<T>
  /**
   * Yields events until the stream ends, which it does each minute. Throws ApiError; status 410 requires a
   * new list.
   */
  watch<T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): AsyncGenerator<WatchEvent<T>>
}

const ATTEMPT_MS = 10_000
const WATCH_SECONDS = 60
/** Milliseconds. */
const retries = exponential(200, 3_000)

/** Resolves with the head of the response. */
function senderTo(access: ApiAccess) {
  const agent = new Agent({ keepAlive: true })
  return (method: string, path: string, signal: AbortSignal, body?: object): Promise<IncomingMessage> => {
    const content = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      // Read for each call: a token that the kubelet has replaced expires within minutes.
      const headers = {
        authorization: `Bearer ${readFileSync(access.token_file, 'utf8').trim()}`,
        accept: 'application/json',
        ...(content !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(content),
        }),
      }
      const sent = request(
        new URL(path, access.server),
        { method, agent, ca: readFileSync(access.ca_file), headers, signal },
        resolve,
      )
      sent.once('error', reject)
      sent.end(content)
    })
  }
}

/**
 * Returns calls of the API of a cluster, signed in as the pod's service account. Throws SandboxError for
 * refused and failed calls.
 */
export function createApi(access: ApiAccess): KubernetesApi {
  const send = senderTo(access)
  const sendAccepted = async (
    method: string,
    path: string,
    signal: AbortSignal,
    body?: object,
  ): Promise<IncomingMessage> => {
    try {
      const response = await send(method, path, signal, body)
      if ((response.statusCode ?? 0) < 300) return response
      throw refusal(response, await text(response))
    } catch (error) {
      throw error instanceof ApiError ? error : noResponse(error)
    }
  }

  return {
    async call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, { schema, body, signal }: CallOptions<T>) {
      for (let attempt = 0; ; attempt++) {
        try {
          using bounded = deadline(ATTEMPT_MS, signal)
          const response = await sendAccepted(method, path, bounded.signal, body)
          return parsed(schema, await text(response))
        } catch (error) {
          const wait_ms =
            error instanceof ApiError && mayPass(method, error, attempt)
              ? retryDelayAfter(error, attempt)
              : null
          if (wait_ms === null || signal.aborted) throw error
          await pause(wait_ms, signal).catch(() => Promise.reject(error))
        }
      }
    },
    async *watch<T>(path: string, schema: z.ZodType<T>, signal: AbortSignal) {
      const events = eventSchema(schema)
      // A connection that died silently ends here soon after its normal end.
      using bounded = deadline(WATCH_SECONDS * 1_000 + ATTEMPT_MS, signal)
      const response = await sendAccepted(
        'GET',
        `${path}&watch=true&allowWatchBookmarks=true&timeoutSeconds=${WATCH_SECONDS}`,
        bounded.signal,
      )
      // The connection keeps no process alive.
      response.socket.unref()
      try {
        for await (const line of createInterface({ input: response })) {
          const event = parsed(events, line)
          if (event.type === 'ERROR')
            throw new ApiError(event.object.code ?? 0, event.object.reason ?? '', event.object.message ?? '')
          yield event
        }
      } catch (error) {
        throw error instanceof ApiError ? error : noResponse(error)
      } finally {
        response.destroy()
      }
    },
  }
}

/** A proxy may cut off a response, or replace it by its own: that counts as no response. */
function parsed<T>(schema: z.ZodType<T>, json: string): T {
  const { data, error } = schema.safeParse(parseJson('engine_response', json))
  if (error) throw noResponse(new Error(`unexpected content: ${z.prettifyError(error)}`))
  return data
}

const Status = z.object({
  code: z.number().optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
  details: z.object({ retryAfterSeconds: z.number().optional() }).optional(),
})

const eventSchema = <T>(object: z.ZodType<T>) =>
  z.discriminatedUnion('type', [
    z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object }),
    z.object({
      type: z.literal('BOOKMARK'),
      object: z.object({ metadata: z.object({ resourceVersion: z.string() }) }),
    }),
    z.object({ type: z.literal('ERROR'), object: Status }),
  ])

function refusal(response: IncomingMessage, body: string): ApiError {
  // A proxy may respond with a page.
  const status = Status.safeParse(parseJson('engine_response', body)).data ?? {}
  const seconds = Number(response.headers['retry-after'] ?? status.details?.retryAfterSeconds ?? Number.NaN)
  const message = status.message ?? `the Kubernetes API responded with ${response.statusCode}`
  return new ApiError(
    response.statusCode ?? 0,
    status.reason ?? '',
    message,
    seconds >= 0 ? seconds * 1000 : null,
  )
}

const noResponse = (error: unknown) =>
  new ApiError(
    0,
    '',
    `the Kubernetes API does not respond: ${error instanceof Error ? error.message : error}`,
  )

/**
 * Returns whether the same call may succeed in a moment. A token that has just been replaced is retried once.
 */
function mayPass(method: string, error: ApiError, attempt: number): boolean {
  if (error.status === 401) return attempt === 0
  // A quota on which others were counted at the same moment.
  if (error.status === 409) return method === 'POST' && error.reason === 'Conflict'
  return [0, 408, 429].includes(error.status) || error.status >= 500
}

const retryDelayAfter = (error: ApiError, attempt: number) =>
  retryDelay(retries, attempt + 1, error.retry_after_ms)
