import { execFile } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'
import { additionRows } from './rows.ts'
import { type SimulatedAddition, simulated_additions } from './simulated-additions.ts'
import { copySources } from './source-copy.ts'

/** What the two projects of the compiler read. */
const SOURCES = [
  'src',
  'test',
  'bench',
  'scripts',
  'web',
  'docs',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
]
const PROJECTS = ['.', 'web']
const COMPILER_TIMEOUT_MS = 600_000

/** `text`: its message with the lines that explain it. */
type CompilerError = { path: string; text: string }

function compile(folder: string, project: string): Promise<CompilerError[]> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['node_modules/typescript/bin/tsc', '-p', project, '--pretty', 'false'],
      { cwd: folder, timeout: COMPILER_TIMEOUT_MS, maxBuffer: 64 * 1024 ** 2 },
      (error, stdout, stderr) => {
        const errors = [...stdout.matchAll(/^([\w./-]+)\(\d+,\d+\): (error .*(?:\n .*)*)/gm)]
        if (error !== null && errors.length === 0) reject(new Error(stderr || stdout || error.message))
        else resolve(errors.map(([, path = '', text = '']) => ({ path, text })))
      },
    )
  })
}

/** Whether the error is about what is added. A name may begin with another one. */
const isAbout = (text: string, names: readonly string[]) =>
  names.some(name => new RegExp(`(?<!\\w)${RegExp.escape(name)}(?!\\w)`).test(text))

type Round = { additions: SimulatedAddition[]; errors: CompilerError[] }

/** The errors after all additions of a round have begun, each of which has names of its own. */
const rounds: Round[] = []

beforeAll(async () => {
  using copy = copySources(SOURCES)
  const by_round = Map.groupBy(simulated_additions, ({ round }) => round ?? 1)
  for (const additions of by_round.values()) {
    using _ = copy.insert(additions.flatMap(({ insertions }) => insertions))
    const errors = await Promise.all(PROJECTS.map(project => compile(copy.folder, project)))
    rounds.push({ additions, errors: errors.flat() })
  }
}, 2 * COMPILER_TIMEOUT_MS)

const errorsOf = (addition: SimulatedAddition) =>
  rounds
    .filter(({ additions }) => additions.includes(addition))
    .flatMap(({ errors }) => errors.filter(({ text }) => isAbout(text, addition.names)))

/** A row would grow with each example in a test beside the code. */
const unit_test = /^(?:src|web)\/.*\.test\.ts$/

test.each(simulated_additions)(
  'the compiler points to the files that ARCHITECTURE.md marks for $what, and to no others',
  addition => {
    const row = additionRows().find(({ what }) => what === addition.what)
    const paths = new Set(errorsOf(addition).map(({ path }) => path))
    const withoutUnitTests = (of: Iterable<string>) => [...of].filter(path => !unit_test.test(path)).sort()
    expect(withoutUnitTests(paths)).toEqual(withoutUnitTests(row?.compiler ?? []))
  },
)

test('each error of the compiler is about one of the additions, or follows from one in the same file', () => {
  const known = new Set(simulated_additions.flatMap(errorsOf).map(({ path }) => path))
  const unknown = rounds.flatMap(({ errors }) => errors.filter(({ path }) => !known.has(path)))
  expect(unknown).toEqual([])
})
