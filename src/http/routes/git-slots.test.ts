import { expect, test } from 'vitest'
import { gitSlots, type SlotBounds } from './git-slots.ts'

const [ada, bob, cyd] = [
  { organization_id: 1, user_id: 1 },
  { organization_id: 2, user_id: 2 },
  { organization_id: 3, user_id: 3 },
]
const BOUNDS: SlotBounds = {
  total: 2,
  reserved: 0,
  of_organization: 2,
  of_user: 1,
  wait_ms: 60_000,
  patience_ms: 0,
  slow_ms: 0,
  very_slow_ms: 60_000,
}

test('a released slot goes to the first waiting client that may use it', async () => {
  const take = gitSlots({ ...BOUNDS, patience_ms: 60_000 })
  const order: string[] = []
  const request = (name: string, holder: typeof ada) =>
    take(holder).then(slot => {
      order.push(name)
      return slot
    })
  const first = await request('ada', ada)
  const second = request('ada again', ada)
  const other = await request('bob', bob)
  expect(order).toEqual(['ada', 'bob'])
  // Bob's slot does not go to Ada, who has used her limit.
  other.release()
  const third = request('bob again', bob)
  await third
  first.release()
  // A second release has no effect.
  first.release()
  await second
  expect(order).toEqual(['ada', 'bob', 'bob again', 'ada again'])
})

test('a client that waits too long gets 503', async () => {
  const late = gitSlots({ ...BOUNDS, total: 1, wait_ms: 10 })
  const { release } = await late(ada)
  await expect(late(bob)).rejects.toMatchObject({ code: 'unavailable' })
  release()
  await expect(late(bob)).resolves.toHaveProperty('release')
})

test('an organization has a limit, whichever of its users it serves', async () => {
  const take = gitSlots({ ...BOUNDS, total: 4, of_organization: 2, of_user: 2, wait_ms: 10 })
  await take(ada)
  await take({ ...ada, user_id: 7 })
  await expect(take({ ...ada, user_id: 8 })).rejects.toMatchObject({ code: 'unavailable' })
  await take(bob)
})

test('organizations that use all they may leave a slot for one that has none', async () => {
  const take = gitSlots({ ...BOUNDS, total: 5, reserved: 1, of_user: 2, wait_ms: 10 })
  for (const holder of [ada, ada, bob, bob]) await take(holder)
  const slot = await take(cyd)
  await expect(take(cyd)).rejects.toMatchObject({ code: 'unavailable' })
  await expect(take({ organization_id: 4, user_id: 4 })).rejects.toMatchObject({ code: 'unavailable' })
  slot.release()
  await take({ organization_id: 4, user_id: 4 })
})

test('a free slot goes to the organization that has the fewest', async () => {
  const take = gitSlots({ ...BOUNDS, total: 3, of_organization: 3, of_user: 3, patience_ms: 60_000 })
  const slots = [await take(ada), await take(ada), await take(bob)]
  const order: string[] = []
  const waiting = [ada, bob, cyd].map(holder =>
    take(holder).then(() => order.push(`organization ${holder.organization_id}`)),
  )
  slots[0]?.release()
  await waiting[2]
  expect(order).toEqual(['organization 3'])
  slots[1]?.release()
  await waiting[0]
  slots[2]?.release()
  await waiting[1]
  expect(order).toEqual(['organization 3', 'organization 1', 'organization 2'])
})

test('an organization without a slot gets that of a slow client of the one with the most', async () => {
  const take = gitSlots({ ...BOUNDS, total: 3, of_user: 3 })
  const slots = [await take(ada), await take(ada), await take(bob)]
  const cut: string[] = []
  for (const [n, name] of ['first of ada', 'second of ada', 'bob'].entries())
    slots[n]?.yields(() => {
      cut.push(name)
      slots[n]?.release()
    })
  await take(cyd)
  expect(cut).toEqual(['first of ada'])
})

test('no slot is taken from a client for which git works, nor the only one of an organization', async () => {
  const take = gitSlots({ ...BOUNDS, total: 2, wait_ms: 20 })
  await take(ada)
  const { yields } = await take(bob)
  const cut: string[] = []
  yields(() => cut.push('bob'))
  await expect(take(cyd)).rejects.toMatchObject({ code: 'unavailable' })
  expect(cut).toEqual([])
})
