import { closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pingEachSecond } from '../../../src/sandbox/containers/pings.ts'
import { waitUntil } from '../../../src/system/processes.ts'
import { createPipes } from '../../../src/system/programs/create-pipes.ts'
import { testFolder } from '../../temporary-folder.ts'

const isClosed = (descriptor: number) => waitUntil(() => !existsSync(`/proc/self/fd/${descriptor}`), 10_000)

test('pings that are stopped twice close their pipe once: a file that got its number since stays open', async () => {
  const path = join(testFolder(), 'pipe')
  await createPipes([path])
  const open = () => openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  // Another pipe keeps the thread alive.
  const stopOther = pingEachSecond(open())
  const pipe = open()
  const stop = pingEachSecond(pipe)
  stop()
  expect(await isClosed(pipe)).toBe(true)
  const files: number[] = []
  while (!files.includes(pipe)) files.push(openSync(path, constants.O_RDWR | constants.O_NONBLOCK))
  stop()
  // The thread reads its messages in order.
  const last = open()
  pingEachSecond(last)()
  expect(await isClosed(last)).toBe(true)
  expect(fstatSync(pipe).isFIFO()).toBe(true)
  stopOther()
  for (const file of files) closeSync(file)
})
