import { expect, test } from 'vitest'
import { gitSlots } from './git-slots.ts'

const [ada, bob] = [1, 2]

test('a place that is given back goes to the first that may have it', async () => {
  const take = gitSlots({ total: 2, of_user: 1, wait_ms: 60_000 })
  const order: string[] = []
  const asked = (name: string, user_id: number) =>
    take(user_id).then(release => {
      order.push(name)
      return release
    })
  const first = await asked('ada', ada)
  const second = asked('ada again', ada)
  const other = await asked('bob', bob)
  expect(order).toEqual(['ada', 'bob'])
  // Of Bob's place nothing comes to Ada, who has hers.
  other()
  const third = asked('bob again', bob)
  await third
  first()
  // Given back twice is given back once.
  first()
  await second
  expect(order).toEqual(['ada', 'bob', 'bob again', 'ada again'])
  const late = gitSlots({ total: 1, of_user: 1, wait_ms: 10 })
  const release = await late(ada)
  await expect(late(bob)).rejects.toMatchObject({ code: 'unavailable' })
  release()
  await expect(late(bob)).resolves.toBeTypeOf('function')
})
