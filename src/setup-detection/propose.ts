import { cPart } from './ecosystems/c.ts'
import { goPart } from './ecosystems/go.ts'
import { javaPart } from './ecosystems/java.ts'
import { isNodeWorkspaceRoot, nodePart } from './ecosystems/node.ts'
import { perlPart } from './ecosystems/perl.ts'
import { phpPart } from './ecosystems/php.ts'
import { pythonPart } from './ecosystems/python.ts'
import { rubyPart } from './ecosystems/ruby.ts'
import { rustPart } from './ecosystems/rust.ts'
import { NOT_OWN } from './files.ts'
import { type CommandHint, commandHints } from './hints/command-hints.ts'
import type { Part, Proof, ProofKind, Proposal, Step, Suggestion, Toolchain, ToProve } from './proposal.ts'
import { type Project, projectAt, type Tree } from './tree.ts'

const MAX_FOLDERS = 8
const MAX_COMMANDS = 30
const MAX_TESTS = 3

/**
 * Proposes how a repository is set up and how that can be proved. Lockfiles and manifests determine what is
 * installed; documents and CI add further steps, and the commands of the tests.
 */
export function propose(tree: Tree, toolchain: Toolchain): Proposal {
  const { hints, left_out } = commandHints(tree)
  const parts = partsOfTree(tree, toolchain)
  const proposal = combine(parts, hints)
  const offline_parts = parts.map(part =>
    provable(part.offline) ? { ...part, ...part.offline, calls: [] } : part,
  )
  const other = parts.some(part => provable(part.offline)) ? combine(offline_parts, []) : null
  const unique = <T>(all: T[], key: (one: T) => string) => [
    ...new Map(all.map(one => [key(one), one])).values(),
  ]
  return {
    ecosystems: [...new Set(parts.map(({ ecosystem }) => ecosystem))],
    ...proposal,
    tools: unique(
      parts.flatMap(({ tools }) => tools),
      ({ binary }) => binary,
    ),
    lockfiles: [...new Set(parts.flatMap(({ lockfiles }) => lockfiles))],
    notes: [
      ...unreadable(tree),
      ...parts.flatMap(({ notes }) => notes),
      ...left_out
        .slice(0, 10)
        .map(({ command, from, why }) => `Left out, because it ${why} (${from}): ${command.slice(0, 200)}`),
    ],
    offline: other,
  }
}

/** An alternative without a proof is useless. */
const provable = (way: Part['offline']) =>
  way !== undefined && [way.tests, way.builds, way.smokes].some(proofs => proofs.length > 0)

/** A manifest at the root that cannot be parsed, which its authors may not know. */
const unreadable = (tree: Tree): string[] => {
  const root = projectAt(tree, '')
  return [
    ...['package.json', 'composer.json']
      .filter(path => root.has(path) && root.json(path) === null)
      .map(path => [path, 'a JSON object']),
    ...['pyproject.toml', 'Cargo.toml']
      .filter(path => root.has(path) && root.toml(path) === null)
      .map(path => [path, 'TOML']),
  ].map(([path, kind]) => `${path} cannot be read: it is not ${kind}, or it is longer than 64 KiB.`)
}

function partsOfTree(tree: Tree, toolchain: Toolchain): Part[] {
  const root = projectAt(tree, '')
  const at_root = partsIn(root, toolchain)
  const taken = new Set(at_root.map(({ ecosystem }) => ecosystem))
  const folders = new Set(
    tree.paths.flatMap(path => (path.split('/').length === 2 ? (path.split('/')[0] ?? []) : [])),
  )
  const inside = [...folders]
    .filter(name => !NOT_OWN.test(name) && /^[\w.-]+$/.test(name) && !name.startsWith('-'))
    .flatMap(name => partsIn(projectAt(tree, name), toolchain))
    // The ecosystem of the root covers its folders, and a folder without a lockfile may be an example.
    .filter(
      part =>
        !taken.has(part.ecosystem) && (at_root.length === 0 || (part.ecosystem !== 'c' && isLocked(part))),
    )
    .filter(part => part.ecosystem !== 'node' || !isNodeWorkspaceRoot(root))
  return [...at_root, ...inside.slice(0, MAX_FOLDERS)]
}

const isLocked = ({ lockfiles }: Part) =>
  lockfiles.some(path => /(?:lock|lock\.(?:json|yaml)|shrinkwrap\.json|go\.sum)$/.test(path))

function partsIn(project: Project, toolchain: Toolchain): Part[] {
  const found = [
    nodePart(project, toolchain),
    pythonPart(project, toolchain),
    goPart(project),
    rustPart(project),
    javaPart(project, toolchain),
    rubyPart(project),
    phpPart(project, toolchain),
    perlPart(project),
  ].filter(part => part !== null)
  // Beside another manifest, a Makefile is a list of tasks; alone it builds the project.
  const c = found.every(isSideManifest) ? cPart(project) : null
  return c === null ? found : [...found.filter(part => part.install.length > 0), c]
}

/** A manifest without content, such as that of scripts beside a C program. */
const isSideManifest = ({ ecosystem, install, tests }: Part) =>
  ['node', 'ruby'].includes(ecosystem) && install.length === 0 && tests.length === 0

function combine(parts: Part[], hints: readonly CommandHint[]): Pick<Proposal, 'commands' | 'to_prove'> {
  const called = hints.map(one => ({ ...one, command: calledHere(one, parts) }))
  const to_prove = parts.map((part, i) =>
    toProve(
      part,
      called.filter(one => partOf(one, parts) === i),
    ),
  )
  const known = new Set(parts.map(({ ecosystem }) => ecosystem))
  const before: Step[] = []
  const extra: Step[] = []
  for (const { command, from, kind, ecosystem, setup } of called) {
    if (
      kind === 'test' ||
      (kind !== 'build' && !setup) ||
      (kind === 'install' && ecosystem !== null && known.has(ecosystem))
    )
      continue
    // A build that the setup runs already, or that does not belong to the root.
    if (
      kind === 'build' &&
      (ecosystem === 'c' || !setup) &&
      !(ecosystem === 'node' && from.startsWith('.github/'))
    )
      continue
    const step = {
      command,
      from,
      why: setup ? 'the repository describes it as setup' : 'its CI does so before the tests',
      optional: true,
    }
    if (kind === 'other' && /^(?:cp|mkdir|touch|export|mv|ln)\b/.test(command)) before.push(step)
    else extra.push(step)
  }
  const install = parts.flatMap(part =>
    part.install.map(one => ({ ...inFolder(part, one), optional: false })),
  )
  const of_nothing = parts.length === 0 ? fromDocuments(called) : null
  return {
    commands: [
      ...new Map(
        [...before, ...install, ...extra, ...(of_nothing?.commands ?? [])].map(one => [one.command, one]),
      ).values(),
    ].slice(0, MAX_COMMANDS),
    to_prove: of_nothing === null ? to_prove : of_nothing.to_prove,
  }
}

/** Without a known ecosystem, only the documents describe the setup. */
function fromDocuments(hints: readonly CommandHint[]): { commands: Step[]; to_prove: ToProve[] } {
  const of = (...kinds: CommandHint['kind'][]) => hints.filter(({ kind }) => kinds.includes(kind))
  const why = 'the repository names it'
  const proofs: Proof[] = [
    ...of('test').map(({ command, from }) => ({ command, from, why, kind: 'test' as const })),
    ...of('build').map(({ command, from }) => ({ command, from, why, kind: 'build' as const })),
  ]
  const commands = of('install', 'build').map(({ command, from }) => ({ command, from, why, optional: true }))
  return {
    commands,
    to_prove: proofs.length === 0 ? [] : [{ ecosystem: 'other', folder: '', proofs: proofs.slice(0, 6) }],
  }
}

function toProve(part: Part, hints: readonly CommandHint[]): ToProve {
  const suggestion = (kind: CommandHint['kind']) =>
    hints
      .filter(one => one.kind === kind)
      .map(({ command, from }) => ({ command, from, why: 'the repository names it' }))
  const of = (kind: ProofKind, own: Suggestion[], suggestion: Suggestion[], max: number) => {
    const by_rules = own.map(one => inFolder(part, one))
    // In CI a C build moves from folder to folder: what the rules have built is tested by the rules.
    const all = part.ecosystem === 'c' && by_rules.length > 0 ? by_rules : [...suggestion, ...by_rules]
    return [...new Map(all.map(one => [one.command, { ...one, kind }])).values()].slice(0, max)
  }
  const builds = of('build', part.builds, suggestion('build'), MAX_TESTS)
  return {
    ecosystem: part.ecosystem,
    folder: part.folder,
    proofs: [
      ...of('test', part.tests, suggestion('test'), MAX_TESTS),
      ...builds,
      ...of('smoke', part.smokes, [], 2),
    ],
  }
}

/** Returns the part that a command belongs to: by ecosystem and folder, or the first. */
function partOf({ ecosystem, command }: CommandHint, parts: Part[]): number {
  const folder = /^\(cd ([\w.-]+)\/? &&/.exec(command)?.[1] ?? ''
  const exact = parts.findIndex(part => part.ecosystem === ecosystem && part.folder === folder)
  if (exact >= 0) return exact
  const same = parts.findIndex(part => part.ecosystem === ecosystem)
  return same >= 0 ? same : parts.length > 0 && ecosystem === 'c' ? 0 : -1
}

const inFolder = ({ folder }: Part, suggestion: Suggestion): Suggestion =>
  folder === '' || GLOBAL.test(suggestion.command)
    ? suggestion
    : { ...suggestion, command: `(cd ${folder} && ${suggestion.command})` }
/** Independent of the folder. */
const GLOBAL = /^npm install --global /

/** Documents use the common names of programs. */
function calledHere(hints: CommandHint, parts: Part[]): string {
  const part = parts[partOf(hints, parts)]
  return (part?.calls ?? []).reduce((command, { name, as }, _, all) => {
    if (all.some(other => command.includes(other.as))) return command
    const word = name.replaceAll('.', '\\.')
    return command.replace(
      new RegExp(`(^|&&\\s*|\\(\\s*|;\\s*)((?:\\w+=\\S{1,200}\\s+){0,20})${word}(?=\\s|$)`),
      (_, before, env) => `${before}${env}${as}`,
    )
  }, hints.command)
}
