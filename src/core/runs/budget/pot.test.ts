import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chargeOfBroken, chargeOfLost, type Price, reserve } from './pot.ts'

/** 3 dollars for a million tokens in, 15 out. */
const price: Price = ({ input_tokens, output_tokens }) => ((3 * input_tokens + 15 * output_tokens) / 1e6).toFixed(12)
const unknown: Price = () => null
const call = { model: 'm', input_tokens: 10_000, max_output_tokens: 32_000 }

test('a call uses its full limit while that fits', () => {
  expect(reserve(call, price, null)).toMatchObject({ fits: true, reservation: { output_tokens: 32_000 } })
  expect(reserve(call, price, 0.51)).toMatchObject({ fits: true, reservation: { output_tokens: 32_000, cost_usd: '0.510000000000' } })
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
  expect(chargeOfLost(reserve(call, unknown, null).reservation, 0)).toMatchObject({ output_tokens: 1_000, cost_usd: null })
})

test('a reservation never exceeds the rest of the budget, and the charge of a broken call never exceeds its reservation', () => {
  fc.assert(
    fc.property(
      ...[fc.nat(500_000), fc.integer({ min: 1, max: 64_000 }), fc.double({ min: 0, max: 3, noNaN: true }), fc.nat(200_000)],
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
