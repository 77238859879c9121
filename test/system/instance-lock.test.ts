import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { awaitWorkerEnd, lockDataFolder, publishedAddress } from '../../src/system/instance-lock.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const lock_and_stay = `
  const { lockDataFolder } = await import(process.argv[1])
  await lockDataFolder(process.argv[2])
  console.log('locked')
  setInterval(() => {}, 1000)`

test('a second service on one data folder, by any path, is refused with one line that names the first', async () => {
  using folder = temporaryFolder()
  symlinkSync(folder.path, join(folder.path, 'alias'))
  await using first = await lockDataFolder(folder.path)
  const message = `data folder ${folder.path} is in use by process ${process.pid}`
  await expect(lockDataFolder(join(folder.path, 'alias'))).rejects.toMatchObject({ message, address: null })
  first.publishAddress('http://127.0.0.1:4711')
  await expect(lockDataFolder(folder.path)).rejects.toMatchObject({
    message,
    address: 'http://127.0.0.1:4711',
  })
})

test('a process that serves and one that works share a folder; a second one of each, and one with both roles, are refused', async () => {
  using folder = temporaryFolder()
  await using serving = await lockDataFolder(folder.path, ['serve'])
  await using working = await lockDataFolder(folder.path, ['work'])
  expect(working).toBeDefined()
  for (const parts of [['serve'], ['work'], ['serve', 'work']] as const)
    await expect(lockDataFolder(folder.path, parts)).rejects.toThrow('is in use by process')
  expect(publishedAddress(folder.path)).toBe(null)
  serving.publishAddress('http://127.0.0.1:4711')
  expect(publishedAddress(folder.path)).toBe('http://127.0.0.1:4711')
})

test('a refused process with both roles releases the part that it had, and the end of a worker can be awaited', async () => {
  using folder = temporaryFolder()
  expect(await awaitWorkerEnd(folder.path, 0)).toBe(true)
  const working = await lockDataFolder(folder.path, ['work'])
  await expect(lockDataFolder(folder.path)).rejects.toThrow('is in use by process')
  await using serving = await lockDataFolder(folder.path, ['serve'])
  expect(serving).toBeDefined()
  expect(await awaitWorkerEnd(folder.path, 0)).toBe(false)
  const order: string[] = []
  const awaited = awaitWorkerEnd(folder.path, 60_000).then(() => order.push('awaited'))
  await new Promise(setImmediate)
  order.push('ended')
  await working[Symbol.asyncDispose]()
  await awaited
  expect(order).toEqual(['ended', 'awaited'])
})

test('the folder is free again when its holder releases it, and folders do not share a lock', async () => {
  using folder = temporaryFolder()
  using other = temporaryFolder()
  {
    await using first = await lockDataFolder(folder.path)
    await using second = await lockDataFolder(other.path)
    expect([first, second]).toHaveLength(2)
  }
  await using again = await lockDataFolder(folder.path)
  expect(again).toBeDefined()
})

test('a killed holder leaves nothing behind that refuses the next one', async () => {
  using folder = temporaryFolder()
  const module_url = new URL('../../src/system/instance-lock.ts', import.meta.url).href
  const holder = spawn(
    process.execPath,
    ['--input-type=module', '-e', lock_and_stay, module_url, folder.path],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await once(holder.stdout, 'data')
  await expect(lockDataFolder(folder.path)).rejects.toThrow(`in use by process ${holder.pid}`)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  await using next = await lockDataFolder(folder.path)
  expect(next).toBeDefined()
})

test('another user of the machine that takes names of sockets, or searches for the lock, prevents no service from starting', async () => {
  using folder = temporaryFolder()
  const name = `\0agentrun:${createHash('sha256').update(folder.path).digest('hex')}`
  await using squatter = createServer().listen(name)
  await once(squatter, 'listening')
  const held = await lockDataFolder(folder.path)
  await held[Symbol.asyncDispose]()
  const nobody = { uid: 65_534, gid: 65_534 }
  if (process.getuid?.() !== 0) return
  const stranger = spawnSync('flock', ['-n', join(folder.path, 'lock'), 'true'], {
    ...nobody,
    encoding: 'utf8',
  })
  expect(stranger.stderr).toMatch(/Permission denied/)
})
