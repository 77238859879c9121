import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { limits } from '../../../src/contract/limits.ts'
import { startApp } from '../../start-app.ts'
import { addTenant } from '../access/second-organization.ts'

test('a user may have a limited number of streams open, which takes none from the users of another organization', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const other = await addTenant(app)
  const path = `/v1/organizations/${app.org_id}/events`
  const sockets: Socket[] = []
  try {
    while (sockets.length < limits.open_streams) {
      const wave = Array.from({ length: Math.min(100, limits.open_streams - sockets.length) }, () =>
        openStream(app, path),
      )
      sockets.push(...(await Promise.all(wave)))
    }
    await expect(openStream(app, path)).rejects.toThrow(/^HTTP\/1\.1 429 .*\r\nretry-after: 1\r\n/s)
    const theirs = await openStream(
      { ...app, token: other.token },
      `/v1/organizations/${other.org_id}/events`,
    )
    theirs.destroy()
    // Room is made as soon as one has ended.
    const [first] = sockets
    first?.destroy()
    await expect
      .poll(() =>
        openStream(app, path).then(
          socket => sockets.push(socket) > 0,
          () => false,
        ),
      )
      .toBe(true)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})

/** Opens a stream on a connection of its own. Rejects when the response is not 200. */
function openStream({ base_url, token }: { base_url: string; token: string }, path: string): Promise<Socket> {
  const { hostname, port, host } = new URL(base_url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', reject)
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`)
    socket.once('data', bytes => {
      if (bytes.toString('latin1').startsWith('HTTP/1.1 200')) return resolve(socket)
      socket.destroy()
      reject(new Error(bytes.toString('latin1')))
    })
  })
}
