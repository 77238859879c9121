import { expect, test } from 'vitest'
import { allowed_calls } from './seccomp-allowed.ts'
import { allBut, seccompProfile } from './seccomp-profile.ts'
import { absent_calls, forbidden_calls, inspected_calls } from './seccomp-syscalls.ts'

test('no call is both allowed and refused, and none is allowed twice', () => {
  expect(new Set(allowed_calls).size).toBe(allowed_calls.length)
  const others = Object.keys({ ...forbidden_calls, ...absent_calls, ...inspected_calls })
  expect(others.filter(name => allowed_calls.includes(name))).toEqual([])
})

test('all words but some are covered by masks that do not overlap and include none of them', () => {
  const values = [0x5412, 0x541c]
  const masks = allBut(values)
  const fits = (word: number) => masks.filter(({ mask, value }) => (word & mask) >>> 0 === value).length
  for (const value of values) expect(fits(value)).toBe(0)
  for (const word of [0, 1, 0x5411, 0x5413, 0x541b, 0x541d, 0x5401, 0x80005412, 0xffffffff, 0x15412])
    expect(fits(word), String(word)).toBe(1)
  // Together with the two they are all there is.
  expect(masks.reduce((sum, { mask }) => sum + (~mask >>> 0) + 1, values.length)).toBe(2 ** 32)
})

test('an unlisted call does not exist', () => {
  expect(JSON.parse(seccompProfile())).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 38 })
})
