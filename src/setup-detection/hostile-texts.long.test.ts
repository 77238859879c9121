import { expect, test } from 'vitest'
import { pathsToRead } from './files.ts'
import { plainLines } from './plain-lines.ts'
import { propose } from './propose.ts'
import { explain, hasNoTests, lacksSomething, mostlyPassed, whyRed } from './repair/failures.ts'
import { repairCommand, repairForProof } from './repair/repair.ts'

/**
 * Each half as long as the limit of the rules, and built to make a pattern backtrack. A vulnerable pattern
 * takes minutes.
 */
const BYTES = 32 * 1024
const pieces = [
  ...[
    '\n',
    ' ',
    '\t',
    '\r',
    '\u2028',
    '\\\n',
    ' \n',
    '\u00a0\n',
    '#\n',
    'a',
    'a ',
    'a\n',
    '1 ',
    '1 1 1 1 1 1 x\n',
    '-',
    '- ',
    '=',
    ': ',
    '/',
    '"',
    "'",
    '`',
  ],
  ...[
    '1 111111111111 111111111111 111111111111 111111111111 111111111111 111111111111 111111111111 x\n',
    '```\n',
    '```sh\n',
    '$ a',
    '$((',
    '(',
    '{',
    '[',
  ],
  ...[
    'use ',
    'NAME => ',
    'RUN ',
    'RUN --a ',
    'a: a',
    'a:\n',
    '<a>',
    '<a ',
    '!--',
    '/*',
    '//',
    "'''",
    '"""',
    'ok \n',
    'Ran 1 test in 1s\n\n',
    'x, ',
    'a=1 ',
    '@',
  ],
  ...[
    'npm error ',
    'error: ',
    'not found ',
    'No module named ',
    "Cannot find module '",
    'fatal error: a/',
    'go: a@',
    'use (\n',
    '&& ',
    '|| ',
    '; ',
    'cd a && ',
  ],
]
const hostile = pieces.map(piece => piece.repeat(BYTES / piece.length))
const names = [
  ...[
    'package.json',
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    'yarn.lock',
    '.yarnrc.yml',
    'pyproject.toml',
    'setup.py',
    'setup.cfg',
    'tox.ini',
  ],
  ...[
    'requirements.txt',
    'go.mod',
    'go.work',
    'Cargo.toml',
    'rust-toolchain',
    'pom.xml',
    'build.xml',
    'build.gradle',
    'Rakefile',
    '.ruby-version',
  ],
  ...[
    'composer.json',
    'Makefile.PL',
    'Build.PL',
    'cpanfile',
    'dist.ini',
    'CMakeLists.txt',
    'Makefile',
    'Makefile.am',
    'Gemfile',
    'configure.ac',
  ],
  ...[
    'README.md',
    'AGENTS.md',
    'Dockerfile',
    '.cursor/environment.json',
    '.devcontainer/devcontainer.json',
    '.github/workflows/ci.yml',
    'tests/test_a.py',
  ],
]

// A pattern that cannot bear its text takes minutes: each text has the time of a test for itself.
test.each(hostile.map(text => [JSON.stringify(text.slice(0, 20)), text]))(
  'no file of a repository keeps the rules busy: %s …',
  (_, text) => {
    const folders = ['', 'a/'].flatMap(folder => names.map(name => `${folder}${name}`))
    const files = new Map(pathsToRead(folders).map(path => [path, plainLines(text)]))
    expect(propose({ paths: folders, files }, new Map([['npm', '']])).ecosystems).toContain('perl')
  },
)

test('no output keeps the rules busy', () => {
  const planned = (command: string) => ({ command, from: 'package.json', why: '', optional: false })
  const commands = [
    'npm install',
    'pnpm install',
    'yarn install',
    'pip install -e .',
    'cargo build',
    'make',
    './a',
  ].map(planned)
  for (const output of [...hostile, ...hostile.map(text => `${text}!`)]) {
    const failed = { output, exit_code: 1, timed_out: false }
    for (const poll of [explain, lacksSomething, hasNoTests, mostlyPassed, whyRed]) poll(failed)
    for (const [n, { command }] of commands.entries()) repairCommand(commands, n, command, failed, new Set())
    for (const ecosystem of ['node', 'python'])
      repairForProof(
        commands,
        { ecosystem, folder: '', proofs: [{ ...planned('npm run build'), kind: 'build' }] },
        'npm test',
        failed,
        new Set(),
      )
  }
  expect(plainLines(`a${'\n'.repeat(9)}b\u2028c`)).toBe('a\n\n\nb\nc')
})
