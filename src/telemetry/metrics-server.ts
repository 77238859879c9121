import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { collectDefaultMetrics } from '@prometheus-io/client'
import type { Instruments } from './instruments.ts'

type MetricsServer = AsyncDisposable & { url: string }

type MetricsOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  instruments: Instruments
  /** Updates the gauges before each response. Never rejects. */
  measure: () => Promise<void>
  /** Returns null when ready, otherwise the reason in one line. */
  unready: () => Promise<string | null>
}

/**
 * Serves metrics for Prometheus and the probes of this process, on a port of its own without authentication:
 * for the operator's network only. `/healthz` succeeds while the process is alive, `/readyz` while it accepts
 * work.
 */
export async function startMetricsServer({
  host,
  port,
  instruments,
  measure,
  unready,
}: MetricsOptions): Promise<MetricsServer> {
  const { registry } = instruments
  collectDefaultMetrics({ register: registry })
  const pages: Record<string, () => Promise<{ status: number; type: string; body: string }>> = {
    '/metrics': async () => {
      await measure()
      return { status: 200, type: registry.contentType, body: await registry.metrics() }
    },
    '/healthz': async () => ({ status: 200, type: 'application/json', body: '{"status":"ok"}' }),
    '/readyz': async () => {
      const reason = await unready()
      return {
        status: reason === null ? 200 : 503,
        type: 'application/json',
        body: JSON.stringify({ status: reason ?? 'ready' }),
      }
    },
  }
  const server = createServer((request, response) => {
    const page =
      request.method === 'GET' || request.method === 'HEAD'
        ? pages[request.url?.split('?')[0] ?? '']
        : undefined
    const respond = (status: number, type: string, body: string) =>
      response
        .writeHead(status, { 'content-type': type, ...(status === 503 && { 'retry-after': '2' }) })
        .end(body)
    if (!page) return void respond(404, 'text/plain', 'GET /metrics, /healthz or /readyz\n')
    page().then(
      ({ status, type, body }) => void respond(status, type, body),
      () => void respond(500, 'text/plain', 'the metrics could not be read\n'),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { address, port: taken, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
