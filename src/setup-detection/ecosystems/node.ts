import type { Part, Suggestion, Toolchain } from '../proposal.ts'
import { isPlainWord } from '../shell-lines.ts'
import { asText, asTexts, asValues, namesOf, type Project, valueAt } from '../tree.ts'
import { managerOf } from './node-managers.ts'

const TESTS = [
  'test',
  'tests',
  'tests-only',
  'test-only',
  'test:only',
  'test:ci',
  'test:unit',
  'unit-test',
  'unit',
  'test:node',
]
const BUILDS = ['build', 'compile', 'typecheck', 'type-check', 'check-types', 'tsc', 'types']
/** Commands that wait for input on a terminal. */
const WATCHES = /react-scripts test|\bng test|--watch\b|vitest(?! run)|vue-cli-service test/
/** Scripts that an install runs in the package itself, such as one that builds what the tests load. */
const RUN_BY_INSTALL = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
]
const NO_TESTS = /no test specified|^\s*(?:(?:exit 0|true)\s*|echo [^&|;]*)$/

/** Returns null when it is not a Node project. */
export function nodePart(project: Project, toolchain: Toolchain): Part | null {
  const manifest = project.json('package.json')
  if (manifest === null) return null
  const from = project.at('package.json')
  const manager = managerOf(project, toolchain)
  const scripts = asValues(manifest.scripts) ?? {}
  const dependencies = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap(key =>
    namesOf(manifest[key]),
  )
  const workspaces = valueAt(manifest, 'workspaces') !== null || project.has('pnpm-workspace.yaml')
  const needs = namesOf(manifest.dependencies)
  const script = (name: string) => asText(Object.hasOwn(scripts, name) ? scripts[name] : null)
  const has_dependencies =
    dependencies.length > 0 || namesOf(manifest.peerDependencies).length > 0 || workspaces
  const needs_install = has_dependencies || RUN_BY_INSTALL.some(name => script(name) !== null)
  const run = (name: string, why: string): Suggestion | null => {
    const text = script(name)
    if (text === null || NO_TESTS.test(text)) return null
    const prefix = WATCHES.test(text) ? 'CI=true ' : ''
    return {
      command: `${prefix}${manager.run} ${name === 'test' ? 'test' : `run ${name}`}`,
      from,
      why: `${why}: ${text.slice(0, 200)}`,
    }
  }
  const tests = TESTS.flatMap(name => run(name, `the script ${name}`) ?? [])
  const builds = BUILDS.flatMap(name => run(name, `the script ${name}`) ?? [])
  const lock = manager.lock
  const wanted = asText(valueAt(manifest, 'engines', 'node'))
  return {
    ecosystem: 'node',
    folder: project.folder,
    install: [
      ...(manager.get !== null ? [manager.get] : []),
      ...(needs_install ? [manager.install] : []),
    ].map(command => ({
      needs,
      command,
      from: lock === null ? from : project.at(lock),
      why: manager.why,
    })),
    // Projects without a test script may have tests for Node's own runner.
    tests: tests.length > 0 ? tests.slice(0, 3) : ownTests(project, dependencies),
    builds: builds.slice(0, 3),
    smokes: [
      ...entrySmoke(project, manifest, from),
      ...(needs_install && manager.again !== null
        ? [{ command: manager.again, from, why: 'the installed packages match the declared ones' }]
        : []),
    ],
    tools: [
      { binary: 'node', wanted, from, package: 'nodejs' },
      { binary: 'npm', wanted: null, from, package: 'npm' },
    ],
    lockfiles: [
      from,
      ...(lock === null ? [] : [project.at(lock)]),
      ...['.npmrc', 'pnpm-workspace.yaml', '.yarnrc.yml', '.yarnrc']
        .filter(name => project.has(name))
        .map(project.at),
    ],
    calls: manager.run === manager.name ? [] : [{ name: manager.name, as: manager.run }],
    notes:
      project.first('bun.lock', 'bun.lockb') !== null && lock === null
        ? ['The lockfile of Bun is not read: versions are what the registry has today.']
        : [],
  }
}

function ownTests(project: Project, dependencies: string[]): Suggestion[] {
  const from = project.at('package.json')
  for (const [name, command] of [
    ['vitest', 'npx vitest run'],
    ['jest', 'npx jest'],
    ['mocha', 'npx mocha'],
    ['ava', 'npx ava'],
  ] as const)
    if (dependencies.includes(name)) return [{ command, from, why: `${name} is a dependency` }]
  const found = project.matching(
    /^(?:test|tests|__tests__)\/[^/]+\.(?:test|spec)\.[cm]?js$|^[^/]+\.test\.[cm]?js$/,
  )[0]
  return found === undefined
    ? []
    : [{ command: 'node --test', from: project.at(found), why: 'files that Node takes for tests' }]
}

/** Proves that the exports of the package can be loaded. */
function entrySmoke(project: Project, manifest: { [key: string]: unknown }, from: string): Suggestion[] {
  const named = [
    entryOf(manifest.exports),
    asText(manifest.module),
    asText(manifest.main),
    'index.js',
    'index.mjs',
  ].filter(path => path !== null)
  const paths = named.map(path => path.replace(/^\.\//, ''))
  const found = paths
    .flatMap(path => [path, `${path}.js`, `${path}/index.js`])
    .find(path => /\.[cm]?js$/.test(path) && project.has(path) && isPlainWord(path))
  return found === undefined
    ? []
    : [
        {
          command: `node --input-type=module -e 'await import("./${found}")'`,
          from,
          why: `the entry ${found} can be loaded`,
        },
      ]
}

function entryOf(exports: unknown, depth = 0): string | null {
  if (typeof exports === 'string') return exports
  const values = asValues(exports)
  if (values === null || depth > 6) return asTexts(exports)[0] ?? null
  for (const key of ['.', 'node', 'import', 'require', 'default'])
    if (Object.hasOwn(values, key)) return entryOf(values[key], depth + 1)
  return null
}

/** Folders that the manager installs with the root, as patterns with one star. */
export function isNodeWorkspaceRoot(project: Project): boolean {
  return (
    valueAt(project.json('package.json'), 'workspaces') !== null ||
    project.has('pnpm-workspace.yaml') ||
    project.has('lerna.json')
  )
}
