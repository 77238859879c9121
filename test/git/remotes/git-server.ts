import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type GitServer = AsyncDisposable & { url: string; requests: string[] }

/** Responds before git does; false: git's own `http-backend` responds. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * A git server on loopback: `git http-backend` over the bare repositories below `root`, pushes allowed.
 * `hold`: called with the response of the backend in hand, which is sent when it resolves.
 */
export async function startGitServer(
  root: string,
  intercept: Intercept = () => false,
  hold: (request: IncomingMessage) => Promise<void> = async () => {},
): Promise<GitServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    if (!intercept(request, response)) result(root, request, response, hold)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function result(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
  hold: (request: IncomingMessage) => Promise<void>,
): void {
  const url = new URL(request.url ?? '/', 'http://x')
  const child = spawn('git', ['-c', 'safe.directory=*', '-c', 'http.receivepack=true', 'http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: '/usr/bin:/bin',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_ADDR: '127.0.0.1',
    },
  })
  request.pipe(child.stdin)
  child.stdin.on('error', () => {})
  const chunks: Buffer[] = []
  child.stdout.on('data', chunk => chunks.push(chunk))
  child.on('close', async () => {
    await hold(request)
    const all = Buffer.concat(chunks)
    const end = all.indexOf('\r\n\r\n')
    const headers = all
      .toString('latin1', 0, Math.max(0, end))
      .split('\r\n')
      .map(line => line.split(/: (.*)/s))
    const status = headers.find(([name]) => name === 'Status')?.[1]
    response.statusCode = status ? Number.parseInt(status, 10) : 200
    for (const [name, value] of headers) if (name && name !== 'Status') response.setHeader(name, value ?? '')
    response.end(all.subarray(end + 4))
  })
}
