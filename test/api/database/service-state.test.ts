import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { Health, Readiness } from '../../../src/contract/service.ts'
import { startApp } from '../../start-app.ts'

test('200: health and readiness are public, and give the reason when no run is started', async () => {
  await using app = await startApp()
  const health = await fetch(`${app.base_url}/healthz`)
  expect([health.status, Health.strict().parse(await health.json())]).toEqual([200, { status: 'ok' }])
  const ready = await fetch(`${app.base_url}/readyz`)
  expect(ready.status).toBe(200)
  const state = Readiness.strict().parse(await ready.json())
  expect(state.workers_reason === null).toBe(state.workers === 'ready')
  expect(state.sandbox === null).toBe(state.workers === 'blocked')
})

test('503: after the streams have ended a new request gets Retry-After, and one more connection does not delay the shutdown', async () => {
  const app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const headers = { authorization: `Bearer ${app.token}` }
  const stream = await fetch(`${app.base_url}/v1/organizations/${app.org_id}/events`, { headers })
  const { hostname, port } = new URL(app.base_url)
  const socket = connect({ host: hostname, port: Number(port) })
  await once(socket, 'connect')
  socket.write('GET /v1/users/me HTTP/1.1\r\nhost: localhost\r\n')
  // The service has read the first half once it has responded to a later request.
  await app.call('GET', '/healthz')
  const stopped = app[Symbol.asyncDispose]()
  await stream.text()
  socket.write(`authorization: Bearer ${app.token}\r\n\r\n`)
  const [bytes] = await once(socket, 'data')
  const [head = '', body = ''] = String(bytes).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 503 /)
  expect(head.toLowerCase()).toContain('\r\nretry-after: 2')
  expect(head.toLowerCase()).toContain('\r\nconnection: close')
  expect(JSON.parse(body)).toMatchObject({ code: 'unavailable', status: 503 })
  await stopped
  await expect(fetch(app.base_url)).rejects.toThrow()
})
