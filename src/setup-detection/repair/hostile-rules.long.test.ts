import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { isManifest, LONGEST_PATH } from '../../core/repositories/dependency-manifests.ts'
import { commandHints } from '../hints/command-hints.ts'
import { dockerfileHints } from '../hints/dockerfile.ts'
import { cursorHints, devcontainerHints } from '../hints/editor-settings.ts'
import { markdownHints } from '../hints/markdown.ts'
import { copilotStepHints, workflowHints } from '../hints/workflows.ts'
import { commandsOf, partsOf } from '../shell-lines.ts'
import { jsoncOf } from '../tree.ts'

/**
 * Twice the limit that is read of a file: a rule that rescans from each position takes a minute, a linear one
 * some milliseconds.
 */
const CHARS = 128 * 1024
/** Parsers of YAML take their time for each node. */
const YAML_CHARS = 4 * 1024

const pieces = [
  ' ',
  '\n',
  '\\\n',
  '\\"',
  '"',
  '#',
  '\t',
  '(',
  'a',
  'RUN ',
  '--a ',
  '<<',
  '/*',
  ', ',
  '`',
  '$ ',
  ';',
  'cd a && ',
]
const pairs = pieces.flatMap(a => pieces.map(b => (a === b ? a : a + b)))
const more = [
  '{"a": "\\',
  '"a\\\n',
  '# a\n`npm ci`\n',
  '```sh\n \n```\n',
  'if ',
  'a (',
  '    \\\n',
  'RUN \\\n',
  '/* ',
  '// \n',
  '\u2028# ',
]
const units = [...pairs, ...more]

// A pattern that cannot bear its text takes minutes or hours, and no timeout of a test ends what is
// synchronous.
function inTime<Result>(work: () => Result): Result {
  Object.assign(globalThis, { hostile_work: work })
  return new Script('hostile_work()').runInThisContext({ timeout: 20_000 })
}

const rules: [string, (text: string) => unknown][] = [
  ['commandsOf', commandsOf],
  ['partsOf', partsOf],
  ['jsoncOf', jsoncOf],
  ['a script in JSON', text => cursorHints(JSON.stringify({ install: text }))],
  [
    'commands in JSON',
    text => devcontainerHints(JSON.stringify({ postCreateCommand: [text], onCreateCommand: text })),
  ],
  ['a Dockerfile', dockerfileHints],
  ['a document for agents', text => markdownHints(text, 'agents')],
  ['a heading for people', text => markdownHints(`# ${text}`, 'people')],
  ['a block of a shell', text => markdownHints(`\`\`\`sh\n${text}\n\`\`\`\n`, 'agents')],
]
const of_yaml: [string, (text: string) => unknown][] = [
  ['a workflow', workflowHints],
  ['a script in a workflow', text => workflowHints(`job: { script: ${JSON.stringify(text)} }`)],
  [
    'steps',
    text => copilotStepHints(`jobs: { copilot-setup-steps: { steps: [{ run: ${JSON.stringify(text)} }] } }`),
  ],
]

test.each(units)('no text keeps a rule busy: %j again and again', unit => {
  const of = (chars: number) => unit.repeat(chars / unit.length)
  for (const begin of ['', 'RUN a']) {
    for (const [name, rule] of rules)
      expect(() => inTime(() => rule(`${begin}${of(CHARS)}b`)), name).not.toThrow()
  }
  for (const [name, rule] of of_yaml) expect(() => inTime(() => rule(of(YAML_CHARS))), name).not.toThrow()
})

test.each(['patches/', '.yarn/patches/', '.mvn', 'requirements-', 'a_', '.', '/', 'a '])(
  'no path keeps a rule busy: %j',
  unit => {
    const commands = ['cd a && npm ci', `cd ${unit.repeat(200)}`]
    const paths = Array.from(
      { length: 2_000 },
      (_, i) => `${unit.repeat(LONGEST_PATH)}`.slice(0, LONGEST_PATH - 8) + i,
    )
    expect(inTime(() => paths.filter(path => isManifest(path, commands)).length)).toBeLessThanOrEqual(
      paths.length,
    )
    expect(inTime(() => isManifest(unit.repeat(CHARS * 4), commands))).toBe(false)
  },
)

test('commands that begin in a folder are not held against each path', () => {
  const paths = Array.from({ length: 20_000 }, (_, i) => `${'a'.repeat(280)}${i}/b`)
  const text = Array.from({ length: 40 }, (_, i) => `\`cd ${'a'.repeat(100)}${i} && npm ci\``).join('\n')
  const files = new Map(Array.from({ length: 50 }, (_, i) => [`.github/workflows/${i}.yml`, '']))
  files.set('AGENTS.md', text).set('README.md', text)
  expect(inTime(() => commandHints({ paths, files }).hints)).toEqual([])
})
