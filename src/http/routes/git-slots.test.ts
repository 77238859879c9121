import { expect, test } from 'vitest'
import { gitSlots } from './git-slots.ts'

const [ada, bob] = [1, 2]

test('a released slot goes to the first waiting client that may use it', async () => {
  const take = gitSlots({ total: 2, of_user: 1, wait_ms: 60_000 })
  const order: string[] = []
  const request = (name: string, user_id: number) =>
    take(user_id).then(release => {
      order.push(name)
      return release
    })
  const first = await request('ada', ada)
  const second = request('ada again', ada)
  const other = await request('bob', bob)
  expect(order).toEqual(['ada', 'bob'])
  // Bob's slot does not go to Ada, who has used her limit.
  other()
  const third = request('bob again', bob)
  await third
  first()
  // A second release has no effect.
  first()
  await second
  expect(order).toEqual(['ada', 'bob', 'bob again', 'ada again'])
  const late = gitSlots({ total: 1, of_user: 1, wait_ms: 10 })
  const release = await late(ada)
  await expect(late(bob)).rejects.toMatchObject({ code: 'unavailable' })
  release()
  await expect(late(bob)).resolves.toBeTypeOf('function')
})
