import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { clone } from '../source-tree.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export const HOST = 'agents.example.org'
export type ProxyName = 'nginx' | 'caddy'
export type RunningProxy = AsyncDisposable & {
  base_url: string
  /** What a client needs to trust the proxy. */
  ca_file: string
  send(
    method: string,
    path: string,
    headers?: Record<string, string>,
    body?: string | Buffer,
  ): Promise<IncomingMessage>
}

/** Debian has both; Traefik it has not. */
export const isInstalled = (name: ProxyName) =>
  spawnSync(name, [name === 'nginx' ? '-v' : 'version'], { stdio: 'ignore' }).error === undefined

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('a server on a port has an address')
  return address.port
}

/**
 * Starts the program with its example of deploy/proxies, in front of a service, with a certificate of its
 * own.
 */
export async function startProxy(name: ProxyName, port: number, service_port: number): Promise<RunningProxy> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder()).path
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`]
  const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...algorithm, ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  })
  const example = readFileSync(
    join(clone, 'deploy/proxies', name === 'nginx' ? 'nginx.conf' : 'Caddyfile'),
    'utf8',
  )
    .replaceAll(/\/etc\/ssl\/\S+\.pem/g, certificate)
    .replaceAll(/\/etc\/ssl\/[\w.]+\.key/g, key)
    .replaceAll('127.0.0.1:4600', `127.0.0.1:${service_port}`)
  const args = name === 'nginx' ? nginx(folder, port, example) : caddy(folder, port, example)
  const child = spawn(name, args, {
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    errors += text
  })
  const ended = once(child, 'close')
  stack.defer(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const send: RunningProxy['send'] = async (method, path, headers = {}, body) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      servername: HOST,
      ca: readFileSync(certificate),
      agent: false,
      headers: { host: `${HOST}:${port}`, ...headers, ...length },
    })
    // A proxy that refuses a body closes the connection, perhaps after its response.
    sent.on('error', () => {})
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  }
  for (;;) {
    const response = await send('GET', '/healthz').catch(() => null)
    response?.resume()
    if (response?.statusCode === 200) break
    if (child.exitCode !== null) throw new Error(`${name} did not start: ${errors}`)
  }
  const running = stack.move()
  return {
    base_url: `https://${HOST}:${port}`,
    ca_file: certificate,
    send,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

function nginx(folder: string, port: number, example: string): string[] {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    part => `${part}_temp_path ${join(folder, part)};`,
  )
  writeFileSync(join(folder, 'agentrun.conf'), example.replace('listen 443 ', `listen 127.0.0.1:${port} `))
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporary.join(' ')} include ${folder}/agentrun.conf; }`,
  )
  return ['-p', folder, '-c', join(folder, 'nginx.conf')]
}

function caddy(folder: string, port: number, example: string): string[] {
  mkdirSync(join(folder, 'caddy'))
  const site = example
    .replace('\n\t# tls ', '\n\ttls ')
    .replace(`${HOST} {`, `${HOST}:${port} {\n\tbind 127.0.0.1`)
  const file = join(folder, 'Caddyfile')
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n\tgrace_period 1s\n}\n${site}`)
  return ['run', '--config', file, '--adapter', 'caddyfile']
}
