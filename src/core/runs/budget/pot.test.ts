import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  chargeOfBroken,
  chargeOfLost,
  overdrawn,
  type Price,
  reserve,
  type SharedPot,
  share,
  usedUp,
} from './pot.ts'

/** 3 dollars for a million tokens in, 15 out. */
const price: Price = ({ input_tokens, output_tokens }) =>
  ((3 * input_tokens + 15 * output_tokens) / 1e6).toFixed(12)
const unknown: Price = () => null
const call = { model: 'm', input_tokens: 10_000, max_output_tokens: 32_000 }

test('a call uses its full limit while that fits', () => {
  expect(reserve(call, price, null)).toMatchObject({ fits: true, reservation: { output_tokens: 32_000 } })
  expect(reserve(call, price, 0.51)).toMatchObject({
    fits: true,
    reservation: { output_tokens: 32_000, cost_usd: '0.510000000000' },
  })
})

test('its response is limited to what fits, down to a useful minimum', () => {
  expect(reserve(call, price, 0.18)).toMatchObject({ fits: true, reservation: { output_tokens: 10_000 } })
  expect(reserve(call, price, 0.045)).toMatchObject({ fits: true, reservation: { output_tokens: 1_000 } })
  expect(reserve(call, price, 0.0449)).toMatchObject({ fits: false, reservation: { output_tokens: 1_000 } })
})

test('an unknown price fits into every budget, and stays unknown', () => {
  expect(reserve(call, unknown, 0)).toEqual({
    fits: true,
    reservation: { model: 'm', input_tokens: 10_000, output_tokens: 32_000, cost_usd: null },
  })
})

test('a call that was lost with its worker is charged its input and what a model writes in that time, never more than its reservation', () => {
  const { reservation } = reserve(call, price, null)
  const at = (ms: number) => chargeOfLost(reservation, ms)
  expect(at(0)).toEqual({ model: 'm', input_tokens: 10_000, output_tokens: 1_000, cost_usd: '0.045' })
  expect(at(5_000)).toMatchObject({ output_tokens: 2_000, cost_usd: '0.06' })
  expect(at(-5_000)).toEqual(at(0))
  expect(at(3_600_000)).toMatchObject({ output_tokens: 32_000, cost_usd: '0.51' })
  // A record of an earlier version, and an unknown price.
  const { input_cost_usd: _, ...old } = reservation
  expect(chargeOfLost(old, 0)).toEqual(old)
  expect(chargeOfLost(reserve(call, unknown, null).reservation, 0)).toMatchObject({
    output_tokens: 1_000,
    cost_usd: null,
  })
})

test('a reservation never exceeds the rest of the budget, and the charge of a broken call never exceeds its reservation', () => {
  fc.assert(
    fc.property(
      ...[
        fc.nat(500_000),
        fc.integer({ min: 1, max: 64_000 }),
        fc.double({ min: 0, max: 3, noNaN: true }),
        fc.nat(200_000),
      ],
      (input_tokens, max_output_tokens, left, seen) => {
        const { fits, reservation } = reserve({ model: 'm', input_tokens, max_output_tokens }, price, left)
        const cost = Number(reservation.cost_usd)
        expect(fits).toBe(cost <= left)
        expect(reservation.output_tokens).toBeLessThanOrEqual(max_output_tokens)
        expect(Number(chargeOfBroken(reservation, price, seen).cost_usd)).toBeLessThanOrEqual(cost)
      },
    ),
  )
})

const month: SharedPot = { limit: 'budget_usd_per_month', allowed: '10.00', spent: '9.5', reserved: '0.5' }
const runs: SharedPot = { limit: 'runs_per_month', allowed: '3', spent: '3', reserved: '0' }

test('a shared pot is overdrawn when what was spent and is reserved exceeds it, and used up when what was spent reaches it', () => {
  expect(overdrawn([month])).toBeNull()
  expect(overdrawn([{ ...month, reserved: '0.500001' }])).toMatchObject({
    limit: 'budget_usd_per_month',
    message: expect.stringMatching(/has cost 9\.5 US dollars .* up to 0\.500001 more, of 10 that/),
  })
  expect(usedUp([{ ...month, reserved: '5' }], 0)).toBeNull()
  expect(usedUp([{ ...month, spent: '10' }], null)).toMatch(
    /cost 10 US dollars of the organization's budget of 10 /,
  )
})

test('the runs that a caller has created itself do not use up its number of runs, which matters only where a turn begins', () => {
  expect(usedUp([runs], 1)).toBeNull()
  expect(usedUp([runs], 0)).toMatch(/^The 3 runs /)
  expect(usedUp([runs], null)).toBeNull()
  expect(overdrawn([{ ...runs, spent: '4' }])).toBeNull()
})

test('the first pot in the order of the table is reported, whatever the order of the rows', () => {
  const both = [runs, { ...month, spent: '10' }]
  for (const pots of [both, both.toReversed()]) expect(usedUp(pots, 0)).toMatch(/budget_usd_per_month/)
})

test('what children reserve one after another never exceeds the pot of their parent', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 3_000_000 }),
      fc.array(fc.option(fc.double({ min: 1e-6, max: 3, noNaN: true }))),
      (micros, requests) => {
        const allowed = micros / 1e6
        let reserved = 0
        for (const requested of requests) {
          const given = share({ allowed, spent: 0, reserved }, requested)
          if (given !== 'nothing') reserved += Number(given.usd)
        }
        expect(reserved).toBeLessThanOrEqual(allowed + 1e-9)
      },
    ),
  )
})
