import { expect, test } from 'vitest'
import { publicAddresses } from './address.ts'

test('a host that resolves to a private address is refused, regardless of its name', async () => {
  await expect(publicAddresses('localhost', 5_000)).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('private'),
  })
  await expect(publicAddresses('2130706433', 5_000)).rejects.toMatchObject({ code: 'unreachable' })
  await expect(publicAddresses('[::1]', 5_000)).rejects.toMatchObject({ code: 'unreachable' })
})

test('an address needs no name server', async () => {
  expect(await publicAddresses('140.82.121.3', 5_000)).toEqual(['140.82.121.3'])
})
