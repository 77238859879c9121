import { expect, test } from 'vitest'
import { alignSteps, callsPerTool, firstDivergence, type Step } from './align-steps.ts'

const step = (line: string, failed = false): Step => ({
  seq: 1,
  label: 'shell',
  line,
  failed,
  tool: 'shell',
  duration_ms: null,
})
const lines = (pairs: ReturnType<typeof alignSteps>) =>
  pairs.map(({ a, b }) => [a?.line ?? null, b?.line ?? null])

test('steps with the same tool and input correspond, and others stand alone', () => {
  const pairs = alignSteps(
    [step('ls'), step('npm test'), step('git diff')],
    [step('ls'), step('cat a'), step('npm test')],
  )
  expect(lines(pairs)).toEqual([
    ['ls', 'ls'],
    [null, 'cat a'],
    ['npm test', 'npm test'],
    ['git diff', null],
  ])
  expect(firstDivergence(pairs)).toBe(1)
})

test('the same step with another outcome is a divergence', () => {
  expect(firstDivergence(alignSteps([step('npm test', true)], [step('npm test')]))).toBe(0)
  expect(firstDivergence(alignSteps([step('ls')], [step('ls')]))).toBe(-1)
})

test('runs that have almost nothing in common are paired by their order', () => {
  const many = (name: string) => Array.from({ length: 600 }, (_, i) => step(`${name} ${i}`))
  const pairs = alignSteps(many('a'), [...many('b'), step('last')])
  expect(pairs).toHaveLength(601)
  expect(lines(pairs).at(-1)).toEqual([null, 'last'])
})

test('the calls of each tool are counted for both runs', () => {
  const read = { ...step('a.txt'), tool: 'read' }
  expect(callsPerTool([step('ls'), step('pwd')], [step('ls'), read])).toEqual([
    { tool: 'shell', a: 2, b: 1 },
    { tool: 'read', a: 0, b: 1 },
  ])
})
