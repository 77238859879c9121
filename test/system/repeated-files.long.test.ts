import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const here = resolve(import.meta.dirname, '../..')

/** Runs `scripts/test.ts`, as in `.ci/run`, on test files in a temporary folder, with our reporter. */
function runTests(files: Record<string, string>, args: string[] = [], variables = { TEST_REPEAT: '1' }) {
  const folder = mkdtempSync(join(tmpdir(), 'agentrun-repeated-files-'))
  try {
    symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'))
    mkdirSync(join(folder, 'test'))
    for (const [name, body] of Object.entries(files))
      writeFileSync(
        join(folder, `test/${name}.test.ts`),
        `import { existsSync, writeFileSync } from 'node:fs'\nimport { test } from 'vitest'\n${body}`,
      )
    writeFileSync(
      join(folder, 'vitest.config.ts'),
      `import { SummaryReporter } from '${join(here, 'test/runner/summary-reporter.ts')}'
       export default { test: { include: ['test/*.test.ts'], reporters: ['default', new SummaryReporter()] } }`,
    )
    const env = { ...process.env, NO_COLOR: '1', VITEST_POOL_ID: '', VITEST_WORKER_ID: '', ...variables }
    const { status, stdout } = spawnSync(process.execPath, [join(here, 'scripts/test.ts'), ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    return { status, last: stdout.trim().split('\n').at(-1), stdout }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const passes = `test('passes', () => {})`
const fails = `test('fails', () => { throw new Error('no') })`
const failsOnce = `test('fails once', () => {
  if (existsSync('been-here')) return
  writeFileSync('been-here', '')
  throw new Error('no')
})
test('beside it', () => {})`

test('with TEST_REPEAT a file that fails beside others and passes alone has passed, and is named', () => {
  const { status, last, stdout } = runTests({ passes, failsOnce })
  expect({ status, last }).toEqual({ status: 0, last: '3 passed, 0 failed' })
  expect(stdout).toContain(
    'Failed beside others, and ran again alone:\n  test/failsOnce.test.ts > fails once\n',
  )
})

test('without TEST_REPEAT no file runs twice', () => {
  expect(runTests({ passes, failsOnce }, [], { TEST_REPEAT: '' })).toMatchObject({
    status: 1,
    last: '2 passed, 1 failed',
  })
})

test('what fails alone too has failed, once', () => {
  expect(runTests({ passes, fails, failsOnce })).toMatchObject({ status: 1, last: '3 passed, 1 failed' })
})

test('a file that does not load has failed', () => {
  expect(runTests({ passes, broken: 'throw new Error("no")' })).toMatchObject({
    status: 1,
    last: '1 passed, 1 failed',
  })
})

test('an error outside of tests is not repeated', () => {
  const outside = `test('passes', () => { setTimeout(() => { throw new Error('outside') }) ; return new Promise(done => setTimeout(done, 100)) })`
  expect(runTests({ outside, failsOnce })).toMatchObject({ status: 1, last: '2 passed, 2 failed' })
})

test('many failed files are not repeated', () => {
  const many = Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map(n => [`fails${n}`, failsOnce.replaceAll('been-here', `been-here-${n}`)]),
  )
  expect(runTests(many)).toMatchObject({ status: 1, last: '6 passed, 6 failed' })
})

test('files that are named run once', () => {
  expect(runTests({ passes, failsOnce }, ['failsOnce'])).toMatchObject({
    status: 1,
    last: '1 passed, 1 failed',
  })
})

test('long tests run only when they are named', () => {
  const files = { passes, 'exhaustive.long': passes }
  expect(runTests(files)).toMatchObject({ status: 0, last: '1 passed, 0 failed' })
  expect(runTests(files, ['exhaustive'])).toMatchObject({ status: 0, last: '1 passed, 0 failed' })
})
