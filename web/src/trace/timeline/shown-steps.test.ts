import { expect, test } from 'vitest'
import { shownSteps } from './shown-steps.ts'

test.each([
  [{ from_seq: 5, through_seq: 20 }, 7, { from: 5, through: 20 }],
  [{ from_seq: 5, through_seq: 20 }, 90, { from: 5, through: 20 }],
  [{ from_seq: 1, through_seq: 1000 }, 3, { from: 1, through: 200 }],
  [{ from_seq: 1, through_seq: 1000 }, 555, { from: 400, through: 599 }],
  [{ from_seq: 1, through_seq: 1000 }, 1000, { from: 801, through: 1000 }],
  [{ from_seq: 501, through_seq: 1000 }, 20, { from: 501, through: 700 }],
  [{ from_seq: 1, through_seq: 1000 }, 2000, { from: 1, through: 200 }],
])('of %j at entry %i: %j', (span, seq, shown) => {
  expect(shownSteps(span, seq)).toEqual(shown)
})
