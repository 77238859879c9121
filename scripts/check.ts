import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * What must hold before each commit, in seconds rather than minutes. Everything runs at once; what needs a
 * sandbox or a browser is `npm test`.
 */
const checks: { name: string; script: string; args: string[] }[] = [
  {
    name: 'format and lint',
    script: '@biomejs/biome/bin/biome',
    args: ['check', '--colors=off', '--diagnostic-level=warn'],
  },
  { name: 'types', script: 'typescript/bin/tsc', args: ['-p', '.'] },
  { name: 'types of the page', script: 'typescript/bin/tsc', args: ['-p', 'web'] },
  {
    name: 'shape, drift, migrations, API document, vocabulary, references and unit tests',
    script: 'vitest/vitest.mjs',
    // In processes that are used again: pure code leaves nothing behind, and loading it again for each file
    // takes most of the time.
    args: [
      'run',
      '--no-isolate',
      '--reporter=dot',
      'src/',
      'web/src/',
      'test/shape.test.ts',
      'test/folder-order.test.ts',
      'test/source-tree.test.ts',
      'test/routes.test.ts',
      'test/drift.test.ts',
      'test/contractions.test.ts',
      'test/openapi-lint.test.ts',
      'test/vocabulary.test.ts',
      'test/citations.test.ts',
      'test/documentation.test.ts',
    ],
  },
]

const clone = fileURLToPath(new URL('../', import.meta.url))

type Outcome = { name: string; ok: boolean; seconds: string; output: string }

function run({ name, script, args }: (typeof checks)[number]): Promise<Outcome> {
  const started = performance.now()
  return new Promise(resolve => {
    const child = spawn(process.execPath, [`node_modules/${script}`, ...args], {
      cwd: clone,
      env: { ...process.env, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', text => {
        output += text
      })
    const end = (ok: boolean) =>
      resolve({ name, ok, seconds: ((performance.now() - started) / 1000).toFixed(1), output })
    child.once('error', error => {
      output += error.message
      end(false)
    })
    child.once('close', code => end(code === 0))
  })
}

// `.ci/run` runs the tests with all others.
const chosen = process.argv.includes('--no-tests')
  ? checks.filter(({ script }) => !script.startsWith('vitest'))
  : checks
let failed = 0
await Promise.all(
  chosen.map(async check => {
    const { name, ok, seconds, output } = await run(check)
    if (!ok) failed++
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`)
    // The whole of the first failure, at once; of the others only that there are any: they are often its
    // echo.
    if (!ok && failed === 1) process.stdout.write(`\n${output.trim()}\n\n`)
  }),
)
process.stdout.write(
  failed === 0
    ? 'check: all is well\n'
    : `check: ${failed} of ${chosen.length} failed, the first is shown above\n`,
)
process.exit(failed === 0 ? 0 : 1)
