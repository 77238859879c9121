import { expect, test } from 'vitest'
import { costCurve, svgPoints } from './cost-curve.ts'

const part = (from: number, to: number, cost_usd: string | null) => ({
  from_seq: 1,
  through_seq: 1,
  turn: 1,
  failed: 0,
  cost_usd,
  kinds: [],
  started_at: new Date(from * 1000).toISOString(),
  ended_at: new Date(to * 1000).toISOString(),
})

test('the curve adds up costs and active time, without the time between turns', () => {
  expect(costCurve({ parts: [part(0, 2, '0.1'), part(2, 5, '0'), part(1000, 1001, '0.3')] })).toEqual([
    { ms: 0, usd: 0 },
    { ms: 2000, usd: 0.1 },
    { ms: 5000, usd: 0.1 },
    { ms: 6000, usd: 0.4 },
  ])
})

test('there is no curve without a cost, or with an unknown one', () => {
  expect(costCurve({ parts: [part(0, 2, '0')] })).toBeNull()
  expect(costCurve({ parts: [part(0, 2, '1'), part(2, 3, null)] })).toBeNull()
})

test('the curve fills its picture, the largest cost at the top', () => {
  const points = [
    { ms: 0, usd: 0 },
    { ms: 500, usd: 1 },
    { ms: 1000, usd: 4 },
  ]
  expect(svgPoints(points, 100, 40)).toBe('0.0,40.0 50.0,30.0 100.0,0.0')
})
