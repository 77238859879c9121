import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { listenOnSocket, prepareSocketFolder } from '../../src/egress/socket.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentrun-sockets-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

it('each socket has a folder of its own, for the given group and no other', async () => {
  const parent = prepareSocketFolder(join(folder, 'sockets'))
  expect(mode(parent)).toBe('711')
  const server = createServer()
  const socket = await listenOnSocket(server, parent, process.getgid?.() ?? null)
  expect([mode(socket.path), mode(join(socket.path, '..'))]).toEqual(['660', '710'])
  const other = createServer()
  const closed = await listenOnSocket(other, parent, null)
  expect([mode(closed.path), mode(join(closed.path, '..'))]).toEqual(['600', '700'])
  for (const { remove } of [socket, closed]) remove()
  server.close()
  other.close()
  expect(readdirSync(parent)).toEqual([])
})

it('a path that is too long for a socket gets a short one', async () => {
  const long = prepareSocketFolder(join(folder, 'x'.repeat(100)))
  const server = createServer()
  const socket = await listenOnSocket(server, long, null)
  expect(socket.path.startsWith(long)).toBe(false)
  socket.remove()
  server.close()
  expect(existsSync(socket.path)).toBe(false)
})

it('what a killed process left is removed, and what others have is not', () => {
  const parent = join(folder, 'left')
  const gone = spawnSync('/bin/true').pid
  for (const name of [`agentrun-egress-${gone}-abc`, `agentrun-egress-${process.pid}-abc`, 'other'])
    mkdirSync(join(parent, name), { recursive: true })
  prepareSocketFolder(parent)
  expect(readdirSync(parent).sort()).toEqual([`agentrun-egress-${process.pid}-abc`, 'other'])
})
