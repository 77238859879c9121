import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mirrorState } from '../../../src/git/mirrors/mirror-refs.ts'
import { refreshMirror } from '../../../src/git/mirrors/mirrors.ts'
import { localRepository, makeRepository, openGitFixture } from '../repositories.ts'

const OF_ORGANIZATION = 8

/** A server that accepts connections and never responds. */
async function startHungServer() {
  const open = new Set<Socket>()
  let most = 0
  const server = createServer(socket => {
    open.add(socket)
    most = Math.max(most, open.size)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, open, most: () => most, server }
}

test('an organization whose remotes all hang reads a few of them at a time, and delays no other organization', async () => {
  const hung = await startHungServer()
  await using fixture = await openGitFixture()
  const { host } = fixture
  const own = await makeRepository(join(fixture.dir, 'own'))
  const refreshes = Array.from({ length: 40 }, (_, i) =>
    refreshMirror(host, { id: i + 1, organization_id: 1, kind: 'http', url: `${hung.url}/${i}.git` }).then(
      () => 'fetched',
      () => 'refused',
    ),
  )
  await expect.poll(() => hung.open.size, { timeout: 20_000 }).toBe(OF_ORGANIZATION)
  const other = { ...localRepository(own), id: 100, organization_id: 2 }
  expect(await refreshMirror(host, other)).toMatchObject({ default_branch: 'main' })

  // A free slot is used at once, and no more than these.
  for (const socket of hung.open) socket.destroy()
  await expect.poll(() => hung.open.size, { timeout: 20_000 }).toBe(OF_ORGANIZATION)
  expect(hung.most()).toBe(OF_ORGANIZATION)

  await host[Symbol.asyncDispose]()
  expect(new Set(await Promise.all(refreshes))).toEqual(new Set(['refused']))
  expect(await mirrorState(host, 1)).toBeNull()
  hung.server.close()
}, 60_000)
