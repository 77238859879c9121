import type { Part, Suggestion, Tool, Toolchain } from '../proposal.ts'
import type { Project } from '../tree.ts'
import { isDeclared, pythonNeeds } from './python-needs.ts'

const MANIFESTS = [
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'requirements.txt',
  'Pipfile',
  'tox.ini',
] as const
const SKIPPED = /^(?:docs?|examples?|benchmarks?|scripts?|tools|build|dist)\//

const TESTS = /^tests?$/

/** Checks the parts of the path, each once: a single pattern would rescan them from each folder. */
function isTestFile(path: string): boolean {
  const folders = path.split('/')
  const name = folders.pop() ?? ''
  if (folders.length === 0) return /^(?:test_.*|.*_test|tests?)\.py$/.test(name)
  if (/^(?:tests?|testing)$/.test(folders[0] ?? '') && /^(?:test_.*|.*_tests?|Test\w*)\.py$/.test(name))
    return true
  return /^(?:test_.*|.*_test)\.py$/.test(name) && folders.some(folder => TESTS.test(folder))
}

function isDjangoTest(path: string): boolean {
  const folders = path.split('/')
  const name = folders.pop() ?? ''
  return /^tests?\.py$/.test(name) || (name.endsWith('.py') && folders.some(folder => TESTS.test(folder)))
}

/** What all ways to install a Python project share. `bare`: proofs without an installation. */
type Context = {
  project: Project
  toolchain: Toolchain
  from: string
  needs: ReturnType<typeof pythonNeeds>
  django: boolean
  has_tests: boolean
  python: Tool
  named: Pick<Part, 'ecosystem' | 'folder' | 'lockfiles' | 'notes'>
  bare: ReturnType<typeof bareProofs>
}

/** Returns null when it is not a Python project. */
export function pythonPart(project: Project, toolchain: Toolchain): Part | null {
  const manifest = project.first(...MANIFESTS)
  if (manifest === null) return null
  const from = project.at(manifest)
  const needs = pythonNeeds(project)
  const django = project.has('manage.py') && isDeclared(needs, 'django')
  const has_tests = project.some(isTestFile) || (django && project.some(isDjangoTest))
  const of_files = [...MANIFESTS, 'uv.lock', 'poetry.lock', 'Pipfile.lock', ...needs.requirements].filter(
    name => project.has(name),
  )
  const lockfiles = [...new Set(of_files)].map(project.at)
  const python: Tool = { binary: 'python3', wanted: needs.wanted, from, package: 'python3' }
  const named = { ecosystem: 'python', folder: project.folder, lockfiles, notes: [] }
  const bare = bareProofs(project, needs, has_tests, toolchain.has('python3:pytest'))
  const context: Context = { project, toolchain, from, needs, django, has_tests, python, named, bare }
  const manager = MANAGERS.find(({ lock }) => project.has(lock))
  return manager === undefined ? pipPart(context) : lockedPart(context, manager)
}

const MANAGERS = [
  { lock: 'uv.lock', tool: 'uv', sync: 'sync --locked', run: 'run --no-sync' },
  { lock: 'poetry.lock', tool: 'poetry', sync: 'install --no-interaction', run: 'run' },
] as const

/** Installs with the manager that wrote the lockfile. */
function lockedPart(context: Context, { lock, tool, sync, run }: (typeof MANAGERS)[number]): Part {
  const { project, toolchain, from, needs, has_tests, python, named, bare } = context
  // A missing tool is installed into the home folder, which persists with the workspace.
  const there = toolchain.has(tool)
  const binary = there ? tool : `~/.venvs/${tool}/bin/${tool}`
  const get = [`python3 -m venv ~/.venvs/${tool}`, `~/.venvs/${tool}/bin/pip install ${tool}`]
  const extras =
    tool === 'uv'
      ? needs.extras.map(name => ` --extra ${name}`)
      : needs.extras.map(name => ` --extras ${name}`)
  const groups =
    tool === 'uv'
      ? needs.groups.filter(name => name !== 'dev').map(name => ` --group ${name}`)
      : needs.groups.map(name => ` --with ${name}`)
  const command = `${tool === 'poetry' ? 'POETRY_VIRTUALENVS_IN_PROJECT=true ' : ''}${binary} ${sync}${extras.join('')}${groups.join('')}`
  const suggest = (text: string, why: string): Suggestion => ({ command: text, from: project.at(lock), why })
  const runner = needs.pytest
    ? needs.pytest_declared
      ? 'pytest'
      : 'python -m pytest'
    : `python -m ${unittest(project)}`
  const tests = has_tests ? [suggest(`${binary} ${run} ${runner}`, 'the tests of the repository')] : []
  return {
    ...named,
    install: [
      ...(there ? [] : get.map(text => suggest(text, `${tool} is not installed`))),
      suggest(command, `${lock} is there`),
    ],
    tests,
    builds: [],
    smokes: importSmoke(project, needs.module, `${binary} ${run} python`),
    calls: [
      { name: `${tool} run`, as: `${binary} ${run}` },
      { name: tool, as: binary },
      ...callsOf(`${binary} ${run} python`),
    ],
    tools: there
      ? [python, { binary: tool, wanted: null, from: project.at(lock), package: `python3-${tool}` }]
      : [python, venv(from)],
    offline: { install: [], ...bare },
  }
}

/** Installs with pip into a virtual environment, if anything has to be installed. */
function pipPart({ project, toolchain, from, needs, django, has_tests, python, named, bare }: Context): Part {
  const { pytest } = needs
  const installs = needs.installs.map(({ what, from, why }) => ({
    command: `.venv/bin/pip install ${what}`,
    from: project.at(from),
    why,
  }))
  if (has_tests && pytest && !needs.pytest_declared && installs.length > 0)
    installs.push({
      command: '.venv/bin/pip install pytest',
      from,
      why: 'the tests are for pytest, which no list of dependencies has',
    })
  const needs_nothing =
    needs.dependencies.length === 0 &&
    !needs.compiled &&
    (!pytest || toolchain.has('python3:pytest') || !has_tests)
  if (needs_nothing || installs.length === 0)
    return { ...named, install: [], ...bare, tools: [python], calls: callsOf('python3') }
  const runner = pytest ? '-m pytest' : django ? 'manage.py test' : `-m ${unittest(project)}`
  const tests = has_tests
    ? [{ command: `.venv/bin/python ${runner}`, from, why: 'the tests of the repository' }]
    : []
  return {
    ...named,
    install: [
      { command: 'python3 -m venv .venv', from, why: 'packages are installed beside those of the system' },
      ...installs,
    ],
    tests,
    builds: [],
    smokes: [
      ...importSmoke(project, needs.module, '.venv/bin/python'),
      { command: '.venv/bin/pip check', from, why: 'what is installed goes together' },
    ],
    tools: [python, venv(from)],
    calls: callsOf('.venv/bin/python'),
    offline: needs.compiled
      ? compiledHere(from, tests)
      : {
          install: [],
          ...bare,
          smokes: bare.smokes.filter(({ command }) => !command.includes('compileall')),
        },
  }
}

/** Compiles extensions with the tools of the machine. */
const compiledHere = (from: string, tests: Suggestion[]): Part['offline'] => ({
  install: [
    {
      command: 'python3 -m venv --system-site-packages .venv',
      from,
      why: 'beside the packages of the system',
    },
    {
      command: '.venv/bin/pip install --no-build-isolation --no-deps -e .',
      from,
      why: 'it is built with those',
    },
  ],
  tests,
  builds: [],
  smokes: [],
})

const callsOf = (python: string) => [
  { name: 'pytest', as: `${python} -m pytest` },
  { name: 'py.test', as: `${python} -m pytest` },
  ...['python', 'python3'].map(name => ({ name, as: python })),
]

const venv = (from: string): Tool => ({
  binary: 'python3:ensurepip',
  wanted: null,
  from,
  package: 'python3-venv',
})

/** Proofs with nothing but the programs of the machine. */
function bareProofs(
  project: Project,
  needs: ReturnType<typeof pythonNeeds>,
  has_tests: boolean,
  pytest_there: boolean,
) {
  const from = project.at(project.first(...MANIFESTS) ?? 'setup.py')
  const path = project.some(/^src\/[^/]+(?:\/__init__)?\.py$/)
    ? 'PYTHONPATH=src '
    : project.some(/^lib\/[^/]+(?:\/__init__)?\.py$/)
      ? 'PYTHONPATH=lib '
      : ''
  const django = project.has('manage.py') && isDeclared(needs, 'django')
  const by =
    needs.pytest && (pytest_there || isDeclared(needs, 'pytest'))
      ? '-m pytest'
      : django
        ? 'manage.py test'
        : `-m ${unittest(project)}`
  const tests = has_tests
    ? [{ command: `${path}python3 ${by}`, from, why: 'the tests of the repository' }]
    : []
  return { tests, builds: [], smokes: importSmoke(project, needs.module, `${path}python3`) }
}

function unittest(project: Project): string {
  const folder = project.some(/^tests\/[^/]+\.py$/)
    ? 'tests'
    : project.some(/^test\/[^/]+\.py$/)
      ? 'test'
      : null
  if (folder === null)
    return project.some(/(?:^|\/)test[^/]*\.py$/) ? 'unittest discover' : "unittest discover -p '*_test.py'"
  const pattern = project.some(new RegExp(`^${folder}/test_[^/]*\\.py$`)) ? '' : ` -p '*[Tt]est*.py'`
  // Modules of a package can be imported by its name; otherwise only those in the folder itself are found.
  return project.has(`${folder}/__init__.py`)
    ? `unittest discover -s ${folder} -t .${pattern}`
    : `unittest discover -s ${folder}${pattern}`
}

function importSmoke(project: Project, module: string | null, python: string): Suggestion[] {
  const from = project.at(project.first(...MANIFESTS) ?? 'setup.py')
  const compiled = project.matching(/\.py$/).filter(path => !SKIPPED.test(path) && /^[\w./-]+$/.test(path))
  const loads =
    module === null
      ? []
      : [{ command: `${python} -c 'import ${module}'`, from, why: `the module ${module} can be loaded` }]
  const roots = [...new Set(compiled.map(path => path.split('/')[0] ?? path))].slice(0, 10)
  const plain =
    roots.length === 0
      ? []
      : [{ command: `${python} -m compileall -q ${roots.join(' ')}`, from, why: 'all of it can be compiled' }]
  return loads.length > 0 ? loads : plain
}
