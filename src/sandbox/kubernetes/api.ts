import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { deadline } from '../../core/deadline.ts'

/** Where the API server is, and the files of the service account, which the kubelet replaces while we run. */
export type ApiAccess = { server: URL; ca_file: string; token_file: string }

/** What the API server refused with. `status` 0: it did not answer at all. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** Kubernetes' word for it, `AlreadyExists`; empty when it said none. */
  readonly reason: string
  readonly retry_after_ms: number | null
  constructor(status: number, reason: string, message: string, retry_after_ms: number | null = null) {
    super(message)
    this.status = status
    this.reason = reason
    this.retry_after_ms = retry_after_ms
  }
}

export type WatchEvent<T> = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: T }

export type KubernetesApi = {
  /**
   * The object that is answered. While the server is away, busy or wants it, the call is made again, until `signal` aborts; then, and at
   * any other refusal, it throws ApiError.
   */
  call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, options: { body?: object; signal: AbortSignal }): Promise<T>
  /** Events until the stream ends, which it does each minute. Throws ApiError; with status 410 the list has to be asked for anew. */
  watch<T>(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>>
}

const ATTEMPT_MS = 10_000
const WATCH_SECONDS = 60
/** Doubled with each attempt, up to the second. */
const PAUSE_MS = [200, 3_000] as const

export function createApi(access: ApiAccess): KubernetesApi {
  const agent = new Agent({ keepAlive: true })
  const send = (method: string, path: string, signal: AbortSignal, body?: object): Promise<IncomingMessage> => {
    const content = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      // Read each time: a token that the kubelet has replaced is good for some minutes only.
      const headers = {
        authorization: `Bearer ${readFileSync(access.token_file, 'utf8').trim()}`,
        accept: 'application/json',
        ...(content !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
      }
      const sent = request(new URL(path, access.server), { method, agent, ca: readFileSync(access.ca_file), headers, signal }, resolve)
      sent.once('error', reject)
      sent.end(content)
    })
  }
  const answered = async (method: string, path: string, signal: AbortSignal, body?: object): Promise<IncomingMessage> => {
    try {
      const answer = await send(method, path, signal, body)
      if ((answer.statusCode ?? 0) < 300) return answer
      throw refusal(answer, await text(answer))
    } catch (error) {
      throw error instanceof ApiError ? error : noAnswer(error)
    }
  }

  return {
    async call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, { body, signal }: { body?: object; signal: AbortSignal }) {
      for (let attempt = 0; ; attempt++) {
        try {
          using bounded = deadline(ATTEMPT_MS, signal)
          const answer = await answered(method, path, bounded.signal, body)
          return await readObject<T>(answer)
        } catch (error) {
          const pause = error instanceof ApiError && mayPass(method, error, attempt) ? pauseOf(error, attempt) : null
          if (pause === null || signal.aborted) throw error
          await delay(pause, null, { signal }).catch(() => Promise.reject(error))
        }
      }
    },
    async *watch<T>(path: string, signal: AbortSignal) {
      // A connection that nobody told us is dead ends here a little after it should have.
      using bounded = deadline(WATCH_SECONDS * 1_000 + ATTEMPT_MS, signal)
      const answer = await answered('GET', `${path}&watch=true&allowWatchBookmarks=true&timeoutSeconds=${WATCH_SECONDS}`, bounded.signal)
      // Nobody stays alive for its sake.
      answer.socket.unref()
      try {
        for await (const line of createInterface({ input: answer })) {
          const event = JSON.parse(line) as WatchEvent<T> | { type: 'ERROR'; object: Status }
          if (event.type === 'ERROR') throw new ApiError(event.object.code ?? 0, event.object.reason ?? '', event.object.message ?? '')
          yield event
        }
      } catch (error) {
        throw error instanceof ApiError ? error : noAnswer(error)
      } finally {
        answer.destroy()
      }
    },
  }
}

/** Something on the way may cut an answer off, or put its own in its place. */
async function readObject<T>(answer: IncomingMessage): Promise<T> {
  try {
    return JSON.parse(await text(answer)) as T
  } catch (error) {
    throw noAnswer(error)
  }
}

type Status = { code?: number; reason?: string; message?: string; details?: { retryAfterSeconds?: number } }

function refusal(answer: IncomingMessage, body: string): ApiError {
  const status = readStatus(body)
  const seconds = Number(answer.headers['retry-after'] ?? status.details?.retryAfterSeconds ?? Number.NaN)
  const message = status.message ?? `the Kubernetes API answered ${answer.statusCode}`
  return new ApiError(answer.statusCode ?? 0, status.reason ?? '', message, seconds >= 0 ? seconds * 1000 : null)
}

/** A proxy on the way may answer with a page. */
function readStatus(body: string): Status {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

const noAnswer = (error: unknown) =>
  new ApiError(0, '', `the Kubernetes API does not answer: ${error instanceof Error ? error.message : error}`)

/** Whether the same call may be answered otherwise in a moment. A token that has just been replaced is tried once more. */
function mayPass(method: string, error: ApiError, attempt: number): boolean {
  if (error.status === 401) return attempt === 0
  // Of a quota that others were counted on at the same moment.
  if (error.status === 409) return method === 'POST' && error.reason === 'Conflict'
  return [0, 408, 429].includes(error.status) || error.status >= 500
}

const pauseOf = (error: ApiError, attempt: number) => error.retry_after_ms ?? Math.min(PAUSE_MS[1], PAUSE_MS[0] * 2 ** attempt)
