import { request } from 'node:http'
import type { Readable } from 'node:stream'
import { readJson } from '../../core/json/parse-json.ts'
import { SandboxError } from '../port.ts'

/** `body` is the JSON of the response, or its text. */
export type EngineResponse = { status: number; body: unknown }

/** The Docker Engine API, which Podman implements too, on a unix socket of this machine. */
export type DockerApi = {
  /**
   * Rejects with SandboxError when there is no response; a refusal is a response. Without `timeout_ms` it
   * waits without limit.
   */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; timeout_ms?: number },
  ): Promise<EngineResponse>
}

/** Docker 19.03 and Podman 4 support it. */
const VERSION = 'v1.40'
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024

/**
 * Returns calls of the Engine API at a Unix socket. Throws SandboxError when no engine responds; a refused
 * call is a response with its status.
 */
export function dockerApi(socket: string): DockerApi {
  return {
    call(method, path, { body, timeout_ms } = {}) {
      const { promise, resolve, reject } = Promise.withResolvers<EngineResponse>()
      const away = (error: NodeJS.ErrnoException) =>
        reject(
          new SandboxError(
            `no container engine responds at ${socket} (${error.code ?? error.message}): start it, or name its socket by AGENTRUN_SANDBOX_ENGINE`,
          ),
        )
      const bytes =
        body instanceof Uint8Array ? body : body === undefined ? null : Buffer.from(JSON.stringify(body))
      const headers = {
        host: 'docker',
        ...(bytes && {
          'content-length': bytes.length,
          'content-type': body === bytes ? 'application/x-tar' : 'application/json',
        }),
      }
      const call = request(
        { socketPath: socket, method, path: `/${VERSION}${path}`, headers, agent: false },
        response => {
          readAll(response).then(
            text => resolve({ status: response.statusCode ?? 0, body: parsed(text) }),
            away,
          )
        },
      )
      call.on('error', away)
      // Waiting for the end of a container keeps no process alive.
      if (timeout_ms !== undefined)
        call.setTimeout(timeout_ms, () =>
          call.destroy(new Error(`no response within ${timeout_ms / 1000} s`)),
        )
      else call.on('socket', connection => connection.unref())
      call.end(bytes)
      return promise
    },
  }
}

async function readAll(stream: Readable): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > MAX_RESPONSE_BYTES) throw new Error('a response is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parsed(text: string): unknown {
  const { value, problem } = readJson('engine_response', text)
  return problem === undefined ? value : text
}
