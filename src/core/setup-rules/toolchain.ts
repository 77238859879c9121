import { shellQuote } from '../shell-quote.ts'
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
    'perl',
  ],
  ...['make', 'cmake', 'meson', 'ninja', 'gcc', 'g++', 'autoreconf', 'automake', 'libtoolize', 'pkg-config', 'git'],
]
const MODULES = ['ensurepip', 'venv', 'pytest']
/** Those that say their version in another way than by `--version`. */
const VERSIONS: { [binary: string]: string } = { go: 'go version', java: 'java -version' }
const LINE = 200

/** A command that says which programs there are, a line each. */
export const probeCommand = (): string =>
  [
    `for name in ${BINARIES.join(' ')}; do command -v "$name" >/dev/null && echo "$name"; done`,
    `for name in ${MODULES.join(' ')}; do python3 -c "import $name" 2>/dev/null && echo "python3:$name"; done`,
    'true',
  ].join('\n')

export const parseProbe = (output: string): Toolchain =>
  new Map(output.split('\n').flatMap(line => (BINARIES.includes(line) || line.startsWith('python3:') ? [[line, '']] : [])))

/** A command that says the versions of those that are there, a line each. */
export const versionsCommand = (tools: readonly Tool[], toolchain: Toolchain): string =>
  tools
    .filter(({ binary }) => toolchain.has(binary) && !binary.includes(':'))
    .map(
      ({ binary }) =>
        `printf '%s\\t%s\\n' ${shellQuote(binary)} "$(timeout 20 ${VERSIONS[binary] ?? `${binary} --version`} 2>&1 | head -n 1)"`,
    )
    .concat('true')
    .join('\n')

/** The toolchain with what each has said of its version. */
export function withVersions(toolchain: Toolchain, output: string): Toolchain {
  const said = output.split('\n').flatMap(line => {
    const [name, ...version] = line.split('\t')
    return name !== undefined && toolchain.has(name) && version.length > 0 ? [[name, version.join(' ').slice(0, LINE)] as const] : []
  })
  return new Map([...toolchain, ...said])
}

export const missingTools = ({ tools }: Pick<Proposal, 'tools'>, toolchain: Toolchain): Tool[] =>
  tools.filter(({ binary }) => !toolchain.has(binary))

/** In words for a person. */
export const missingText = (tools: readonly Tool[]): string =>
  tools
    .map(
      ({ binary, from, wanted, package: name }) =>
        `${binary.replace('python3:', 'the Python module ')}${wanted === null ? '' : ` (${wanted})`} is not there, which ${from} needs: Debian has it in ${name}`,
    )
    .join('; ')
