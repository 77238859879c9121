import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { engine_tests } from '../../scripts/engine-tests.ts'
import { clone, sourceFiles } from '../source-tree.ts'
import { skippedLines } from './skipped-tests.ts'

test('skipped tests are named with the command that runs them, once for each command, and nothing when none was skipped', () => {
  expect(skippedLines([{ file: 'test/a.test.ts', skipped: 0 }])).toBe('')
  const lines = skippedLines([
    { file: 'test/sandbox/containers/podman.long.test.ts', skipped: 20 },
    { file: 'test/deploy/image.long.test.ts', skipped: 4 },
    { file: 'test/faults/long-waits.long.test.ts', skipped: 1 },
    { file: 'test/git/workspace/planted-links.test.ts', skipped: 3 },
    { file: 'test/passed.test.ts', skipped: 0 },
  ])
  expect(lines.split('\n').map(line => line.replace(/ {4}#.*/, ''))).toEqual([
    '',
    'Skipped here, and how to run it:',
    '  1 in test/faults/long-waits.long.test.ts',
    '    TEST_SOAK=1 npm run test:long',
    '  24 in test/deploy/image.long.test.ts, test/sandbox/containers/podman.long.test.ts',
    '    npm run test:engines',
    '  3 in test/git/workspace/planted-links.test.ts',
    '    npm test -- test/git/workspace/planted-links.test.ts',
    '',
  ])
})

test('every file that needs an engine is one of those that test:engines runs', () => {
  const needing = sourceFiles('test', ['.test.ts']).filter(
    ({ text }) =>
      /engineProblem\(|everyGuarantee\(|imageProblem\(/.test(text) && !text.includes('skippedLines'),
  )
  expect(needing.length).toBeGreaterThan(4)
  expect(
    needing.map(({ path }) => path).filter(path => !engine_tests.some(start => path.startsWith(start))),
  ).toEqual([])
  for (const path of engine_tests)
    expect(
      sourceFiles('test', ['.test.ts']).some(file => file.path.startsWith(path)) ||
        existsSync(join(clone, path)),
    ).toBe(true)
})
