import { expect, it } from 'vitest'
import { createTurns } from './turns.ts'

it('does the work of an owner in order, and that of another one meanwhile', async () => {
  const inTurn = createTurns()
  const done: string[] = []
  const slow = Promise.withResolvers<void>()
  const first = inTurn(1, async () => {
    await slow.promise
    done.push('first')
  })
  const second = inTurn(1, async () => done.push('second'))
  await inTurn(2, async () => done.push('other'))
  expect(done).toEqual(['other'])
  slow.resolve()
  await Promise.all([first, second])
  expect(done).toEqual(['other', 'first', 'second'])
})

it('rejects a call whose signal aborts while it waits, and continues after one that failed', async () => {
  const inTurn = createTurns()
  const slow = Promise.withResolvers<void>()
  const failed = inTurn(1, () => slow.promise)
  const abort = new AbortController()
  const unwanted = inTurn(1, async () => 'done', abort.signal)
  const last = inTurn(1, async () => 'done')
  abort.abort(new Error('not wanted'))
  await expect(unwanted).rejects.toThrow('not wanted')
  slow.reject(new Error('it failed'))
  await expect(failed).rejects.toThrow('it failed')
  expect(await last).toBe('done')
})
