import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Server as NetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A server on a loopback address, closed with all its connections. */
export type TestServer = AsyncDisposable & { port: number }

export const servePlain = (listener: RequestListener, address = '127.0.0.1', port = 0) =>
  listen(createServer(listener), address, port)

/** With an untrusted certificate, for a.example. */
export async function serveSecure(listener: RequestListener): Promise<TestServer & { certificate: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'agentrun-certificate-'))
  try {
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-subj',
        '/CN=a.example',
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    )
    const certificate = readFileSync(cert, 'utf8')
    return {
      ...(await listen(
        createSecureServer({ key: readFileSync(key), cert: certificate }, listener),
        '127.0.0.1',
        0,
      )),
      certificate,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function listen(
  server: NetServer & { closeAllConnections?(): void },
  address: string,
  port: number,
): Promise<TestServer> {
  server.listen(port, address)
  await once(server, 'listening')
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound ? bound.port : 0,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections?.()
    },
  }
}
