import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSignInServer } from './sign-in-server.ts'

const clone = fileURLToPath(new URL('../../', import.meta.url))

/** The address that the pictures show. The browser resolves it to the service. */
export const SHOWN_ADDRESS = 'http://agents.acme.example'
export const TOKEN = 'token-of-the-first-admin-of-the-pictures'

export type PictureService = AsyncDisposable & {
  address: string
  port: number
  sign_in_link: string
  /** Contains the repositories, which the service may open by path. */
  folder: string
  /** A receiver of webhooks. */
  receiver: string
  /** The origin of a server to which a person signs in. */
  sign_in_server: string
}

const portOf = (server: Server) => (server.address() as AddressInfo).port

async function listen(server: Server, port = 0): Promise<Server> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function freePort(): Promise<number> {
  const server = await listen(createServer())
  const port = portOf(server)
  server.close()
  return port
}

/** Accepts every webhook except those of failed runs. */
const startReceiver = () =>
  listen(
    createServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      response.writeHead(body.includes('"status":"failed"') ? 503 : 204).end()
    }),
  )

/**
 * A new service on a new data folder, with `prepare` called before its start with the folder of the
 * repositories.
 */
export async function startService(prepare: (folder: string) => string): Promise<PictureService> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'agentrun-screenshots-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  const first_repository = prepare(folder)
  const [receiver, sign_in_server, port] = await Promise.all([
    startReceiver(),
    listen(createSignInServer()),
    freePort(),
  ])
  for (const server of [receiver, sign_in_server])
    stack.defer(() => {
      server.closeAllConnections()
      server.close()
    })
  const data_dir = join(folder, 'data')
  const service = spawn(process.execPath, ['src/main.ts'], {
    cwd: clone,
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      AGENTRUN_PORT: String(port),
      AGENTRUN_BASE_URL: SHOWN_ADDRESS,
      AGENTRUN_DATA_DIR: data_dir,
      AGENTRUN_INIT_ORG: 'Acme',
      AGENTRUN_INIT_TOKEN: TOKEN,
      AGENTRUN_INIT_REPO_URL: first_repository,
      AGENTRUN_REPO_PATHS: folder,
      AGENTRUN_ALLOW_PRIVATE_EGRESS: '1',
      AGENTRUN_SHUTDOWN_GRACE_SECONDS: '0',
      AGENTRUN_LOG_LEVEL: 'error',
      AGENTRUN_LIMIT_STANDARD: 'off',
      AGENTRUN_LIMIT_AGENT_CREATION: 'off',
      AGENTRUN_LIMIT_SESSION: 'off',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(service, 'exit')
  stack.defer(async () => {
    service.kill('SIGTERM')
    await ended
  })
  let output = ''
  for await (const chunk of service.stdout) {
    output += chunk
    if (output.includes('Start a run')) break
  }
  if (service.exitCode !== null) throw new Error(`the service did not start: ${output}`)
  const running = stack.move()
  return {
    address: `http://127.0.0.1:${port}`,
    port,
    sign_in_link: readFileSync(join(data_dir, 'sign-in-link'), 'utf8').trim(),
    folder,
    receiver: `http://127.0.0.1:${portOf(receiver)}/agent-runs`,
    sign_in_server: `http://localhost:${portOf(sign_in_server)}`,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
