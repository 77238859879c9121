import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { kindOf, MAX_COMMAND_CHARS } from './kind-of-command.ts'
import { workflowHints } from './workflows.ts'

/** What some rule reads as the beginning of something, or goes over again. */
const begins = [
  'make ',
  'npm ci ',
  'npx ',
  'curl | ',
  'curl ',
  'pip install ',
  'rm ',
  'perl ',
  'A=1 ',
  'sh ',
  'mvn ',
  '',
]
const units = [
  ...['-C ', '-j a=b ', '-a=b ', '-a=b=c ', '--a ', '-a ', 'a=', 'a=b ', 'a=\t', 'npx --a ', '-m pip '],
  ...[
    'curl|',
    'curl | ',
    '| a=b ',
    '| sudo -a ',
    '| env ',
    'sh <( ',
    'sh $(',
    '. `',
    ';rm - ',
    '; rm -a -a ',
    '|(',
    'rm\n',
  ],
  ...[
    '<a ',
    '<a -',
    '%A',
    '{{',
    ' ',
    '\t',
    '\n',
    ' \n',
    'a ',
    'a/',
    'a.',
    'test',
    'test-',
    'check ',
    'start ',
    'service ',
    'verify',
  ],
]
const texts = begins.flatMap(begin => units.map(unit => [begin, unit] as const))

// A pattern that cannot bear its text takes hours, and no timeout of a test ends what is synchronous.
function inTime<Result>(work: () => Result): Result {
  Object.assign(globalThis, { hostile_work: work })
  return new Script('hostile_work()').runInThisContext({ timeout: 20_000 })
}

test.each(texts)('no command keeps the rules busy: %j and %j again and again', (begin, unit) => {
  for (const end of ['', '!', ' ', '\n!']) {
    const command = `${begin}${unit.repeat(MAX_COMMAND_CHARS)}`.slice(0, MAX_COMMAND_CHARS - end.length) + end
    expect(inTime(() => kindOf(command).kind)).toMatch(/^(?:install|build|test|other|left_out)$/)
    const script = JSON.stringify([command, `${command}${command}`])
    expect(inTime(() => workflowHints(`job: { script: ${script} }`))).toBeInstanceOf(Array)
  }
})

test('a command that is too long is ignored', () => {
  expect(kindOf(`npm test ${'a'.repeat(MAX_COMMAND_CHARS)}`)).toEqual({ kind: 'other', ecosystem: null })
  expect(kindOf('npm test'.padEnd(MAX_COMMAND_CHARS, ' a')).kind).toBe('test')
})

test('an option of make may have a value or none', () => {
  const kinds = (...commands: string[]) => commands.map(command => kindOf(command).kind)
  expect(kinds('make -j test', 'make -C test check', 'make -j 4 CC=gcc  check', 'make -f a.mk all')).toEqual([
    ...['test', 'test', 'test', 'build'],
  ])
  expect(kinds('make -C src install', 'make install test', 'make -j dist')).toEqual(Array(3).fill('left_out'))
})
