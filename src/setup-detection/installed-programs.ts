/** Programs whose version is known in milliseconds, and the command that prints it. */
const WITH_VERSION: Readonly<Record<string, string>> = {
  node: 'node --version',
  python3: 'python3 --version',
  go: 'go version',
  rustc: 'rustc --version',
  java: 'java -version',
  ruby: 'ruby --version',
  php: 'php --version',
  gcc: 'gcc -dumpfullversion',
  make: 'make --version',
  cmake: 'cmake --version',
  git: 'git --version',
}
const OTHERS = [
  ...[
    'npm',
    'pnpm',
    'yarn',
    'bun',
    'deno',
    'pip3',
    'uv',
    'poetry',
    'cargo',
    'mvn',
    'gradle',
    'bundle',
    'composer',
    'perl',
  ],
  ...['clang', 'ninja', 'meson', 'rg', 'jq', 'curl', 'wget', 'unzip', 'sqlite3', 'psql', 'docker'],
]

/**
 * Only programs of the system: an agent or a setup may have put others of the same name into its home folder.
 */
const SYSTEM_PATH = '/opt/node/bin:/usr/local/bin:/usr/bin:/bin'

/**
 * Returns a command that lists the installed programs, one per line with its version after a tab; it takes at
 * most about 5 s.
 */
export const programsCommand = (): string =>
  [
    `export PATH=${SYSTEM_PATH}`,
    ...Object.entries(WITH_VERSION).map(
      ([name, command]) =>
        `command -v ${name} >/dev/null && { v=$(timeout 5 ${command} 2>&1 | head -n 3 | tr '\\n\\t' '  '); printf '%s\\t%s\\n' ${name} "$v"; } &`,
    ),
    'wait',
    `for name in ${OTHERS.join(' ')}; do command -v "$name" >/dev/null && echo "$name"; done`,
    'true',
  ].join('\n')

/**
 * Returns the programs with their versions for an agent, such as `node 24.1.0, git 2.39.5, npm`; null: the
 * output names none. Only known names and digits are taken from the output.
 */
export function parsePrograms(output: string): string | null {
  const found = new Map(
    output
      .split('\n')
      .map(line => [line.split('\t')[0] ?? '', /\d{1,5}(?:\.\d{1,9}){1,3}/.exec(line)?.[0] ?? null]),
  )
  const names = [...Object.keys(WITH_VERSION), ...OTHERS].filter(name => found.has(name))
  const shown = names.map(name => [name, found.get(name)].filter(part => part !== null).join(' '))
  return shown.length === 0 ? null : shown.join(', ')
}
