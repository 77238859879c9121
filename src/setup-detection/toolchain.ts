import { shellQuote } from '../core/text/shell-quote.ts'
import type { Proposal, Tool, Toolchain } from './proposal.ts'

const BINARIES = [
  ...[
    'node',
    'npm',
    'pnpm',
    'yarn',
    'python3',
    'uv',
    'poetry',
    'go',
    'cargo',
    'java',
    'mvn',
    'gradle',
    'ant',
    'ruby',
    'bundle',
    'rake',
    'php',
    'composer',
    'phpunit',
    'perl',
  ],
  ...[
    'make',
    'cmake',
    'meson',
    'ninja',
    'gcc',
    'g++',
    'autoreconf',
    'automake',
    'libtoolize',
    'pkg-config',
    'git',
  ],
]
/** Debian's repository of Java libraries. */
export const MAVEN_REPOSITORY = '/usr/share/maven-repo'
const MODULES = ['ensurepip', 'venv', 'pytest']
/** Programs whose version option is not `--version`. */
const VERSIONS: { [binary: string]: string } = {
  go: 'go version',
  java: 'java -version',
  perl: `perl -e 'printf "Perl %vd\\n", $^V'`,
}
const LINE = 200

/** Returns a command that lists the available programs, one per line. */
export const probeCommand = (): string =>
  [
    `for name in ${BINARIES.join(' ')}; do command -v "$name" >/dev/null && echo "$name"; done`,
    `for name in ${MODULES.join(' ')}; do python3 -c "import $name" 2>/dev/null && echo "python3:$name"; done`,
    `test -d ${MAVEN_REPOSITORY} && echo ${MAVEN_REPOSITORY}`,
    'true',
  ].join('\n')

/**
 * Returns the programs that the output of `probeCommand` names, without versions. Other lines are ignored.
 */
export const parseProbe = (output: string): Toolchain =>
  new Map(
    output
      .split('\n')
      .flatMap(line =>
        BINARIES.includes(line) || line.startsWith('python3:') || line === MAVEN_REPOSITORY
          ? [[line, '']]
          : [],
      ),
  )

/** Returns a command that prints the versions of the available programs, one per line. */
export const versionsCommand = (tools: readonly Tool[], toolchain: Toolchain): string =>
  tools
    .filter(({ binary }) => toolchain.has(binary) && !binary.includes(':'))
    .map(
      ({ binary }) =>
        `printf '%s\\t%s\\n' ${shellQuote(binary)} "$(timeout 20 ${VERSIONS[binary] ?? `${binary} --version`} 2>&1 | grep -m 1 '[0-9]')"`,
    )
    .concat('true')
    .join('\n')

/** Adds the printed versions to the toolchain. */
export function withVersions(toolchain: Toolchain, output: string): Toolchain {
  const suggestion = output.split('\n').flatMap(line => {
    const [name, ...version] = line.split('\t')
    return name !== undefined && toolchain.has(name) && version.length > 0
      ? [[name, version.join(' ').slice(0, LINE)] as const]
      : []
  })
  return new Map([...toolchain, ...suggestion])
}

export const missingTools = ({ tools }: Pick<Proposal, 'tools'>, toolchain: Toolchain): Tool[] =>
  tools.filter(({ binary }) => !toolchain.has(binary))

/** Returns a text for a person. */
export const missingText = (tools: readonly Tool[]): string =>
  tools
    .map(
      ({ binary, from, wanted, package: name }) =>
        `${binary.replace('python3:', 'the Python module ')}${wanted === null ? '' : ` (${wanted})`} is not there, which ${from} needs: Debian has it in ${name}`,
    )
    .join('; ')

/**
 * Returns a text about the available programs that are older than requested, or null if none is known to be.
 */
export function tooOldText(tools: readonly Tool[], toolchain: Toolchain): string | null {
  const old = tools.flatMap(({ binary, wanted, from }) => {
    const least = /^\s*(?:(?:>=|\^|~>?|==)\s*)?v?(\d{1,4}(?:\.\d{1,4}){0,2})[^|<]*$/.exec(wanted ?? '')?.[1]
    const found = toolchain.get(binary) ?? ''
    const version = /\d{1,4}(?:\.\d{1,4}){1,2}/.exec(found)?.[0]
    if (least === undefined || version === undefined || !isOlder(version, least)) return []
    return [`${from} requires ${binary} ${wanted}, and the installed version is ${found.trim()}`]
  })
  return old.length === 0 ? null : `${old.join('; ')}.`
}

function isOlder(version: string, least: string): boolean {
  const [have, want] = [version, least].map(text => text.split('.').map(Number))
  const at = (want ?? []).findIndex((n, i) => n !== (have?.[i] ?? 0))
  return at >= 0 && (have?.[at] ?? 0) < (want?.[at] ?? 0)
}
