import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { withPeer } from '../../bench/compare/compare.ts'

test('a peer runs until its measurement has ended', async () => {
  const acts: string[] = []
  const peer = {
    name: 'a peer',
    async start(stack: AsyncDisposableStack) {
      stack.defer(() => void acts.push('ended'))
      return { version: '', run: () => Promise.reject(new Error('no run')) }
    },
  }
  await withPeer(peer, async () => {
    await setImmediate()
    acts.push('measured')
  })
  expect(acts).toEqual(['measured', 'ended'])
})
