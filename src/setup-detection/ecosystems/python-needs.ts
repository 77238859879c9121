import { asText, asTexts, namesOf, type Project, valueAt } from '../tree.ts'

/** The dependencies of a Python project, and how pip installs them. */
type PythonNeeds = {
  wanted: string | null
  dependencies: string[]
  /** Extras and dependency groups for tests. */
  extras: string[]
  groups: string[]
  requirements: string[]
  installs: { what: string; from: string; why: string }[]
  /** Whether pytest runs the tests, and whether a list of dependencies contains it. */
  pytest: boolean
  pytest_declared: boolean
  /** Parts of it are compiled during installation. */
  compiled: boolean
  module: string | null
}

const FOR_TESTS = /^(?:tests?|testing|dev|develop|development|all-dev)$/i
const NAME = /^[A-Za-z0-9][\w.-]{0,60}$/
const REQUIREMENTS =
  /^(?:requirements(?:[-_.](?:dev|tests?|testing|development))?|(?:dev|tests?|testing)[-_]requirements|requirements\/(?:base|main|common|dev|tests?|testing|development)|tests?\/requirements)\.(?:txt|in)$/

const TESTS = /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/
const OF_PYTEST = /^(?:import|from) pytest\b|^(?:async )?def test_/m
const COMPILED = /\bext_modules\b|\bcythonize\s*\(|\bcffi_modules\b|\bRustExtension\b/
const BACKENDS = /^(?:maturin|mesonpy|scikit_build_core|skbuild)\b/

/** The files in which a Python project declares its dependencies, and what was chosen of them. */
type Declarations = {
  project: Project
  pyproject: ReturnType<Project['toml']>
  cfg: Ini
  setup: string
  /** Extras and dependency groups for tests. */
  extras: string[]
  groups: string[]
  requirements: string[]
}

/**
 * Returns what a Python project declares: its requirements files, extras and groups for tests, and the
 * packages that it names.
 */
export function pythonNeeds(project: Project): PythonNeeds {
  const declarations = declarationsOf(project)
  const { pyproject, cfg, setup, extras, groups, requirements } = declarations
  const dependencies = [...new Set([...runtimeDependencies(declarations), ...testDependencies(declarations)])]
  const pytest_declared = dependencies.some(line => /^pytest\b/i.test(line))
  return {
    wanted:
      asText(valueAt(pyproject, 'project', 'requires-python')) ??
      asText(cfg.options?.python_requires) ??
      /python_requires\s*=\s*['"]([^'"]{1,60})/.exec(setup)?.[1] ??
      null,
    dependencies,
    extras,
    groups,
    requirements,
    pytest: pytest_declared || usesPytest(declarations),
    pytest_declared,
    compiled:
      COMPILED.test(setup) ||
      BACKENDS.test(asText(valueAt(pyproject, 'build-system', 'build-backend')) ?? ''),
    installs: installsOf(declarations),
    module: moduleOf(project, pyproject),
  }
}

function declarationsOf(project: Project): Declarations {
  const pyproject = project.toml('pyproject.toml')
  const cfg = readIni(project.text('setup.cfg') ?? '')
  const setup = project.text('setup.py') ?? ''
  const in_setup = [...setup.matchAll(/['"](tests?|testing|dev|develop|development)['"]\s*:/g)].map(
    ([, name]) => name ?? '',
  )
  const extras = only([
    ...namesOf(valueAt(pyproject, 'project', 'optional-dependencies')),
    ...Object.keys(cfg['options.extras_require'] ?? {}),
    ...(setup.includes('extras_require') ? in_setup : []),
  ])
  const groups = only([
    ...namesOf(valueAt(pyproject, 'dependency-groups')),
    ...namesOf(valueAt(pyproject, 'tool', 'poetry', 'group')),
  ])
  const requirements = project
    .matching(REQUIREMENTS)
    .sort((a, b) => a.length - b.length)
    .slice(0, 5)
    .filter(path => path.endsWith('.txt') || !project.has(path.replace(/\.in$/, '.txt')))
  return { project, pyproject, cfg, setup, extras, groups, requirements }
}

const runtimeDependencies = ({ project, pyproject, cfg, setup, requirements }: Declarations): string[] => [
  ...asTexts(valueAt(pyproject, 'project', 'dependencies')),
  ...namesOf(valueAt(pyproject, 'tool', 'poetry', 'dependencies')).filter(name => name !== 'python'),
  ...lines(cfg.options?.install_requires ?? ''),
  ...(/install_requires\s*=\s*(?!\[\s*\]|\(\s*\)|None)/.test(setup) ? ['(in setup.py)'] : []),
  ...requirements.filter(path => !/dev|test/.test(path)).flatMap(path => lines(project.text(path) ?? '')),
]

const testDependencies = ({
  project,
  pyproject,
  cfg,
  setup,
  extras,
  groups,
  requirements,
}: Declarations): string[] => [
  ...extras.flatMap(name => [
    ...asTexts(valueAt(pyproject, 'project', 'optional-dependencies', name)),
    ...lines(cfg['options.extras_require']?.[name] ?? ''),
  ]),
  ...groups.flatMap(name => [
    ...asTexts(valueAt(pyproject, 'dependency-groups', name)),
    ...namesOf(valueAt(pyproject, 'tool', 'poetry', 'group', name, 'dependencies')),
  ]),
  ...requirements.filter(path => /dev|test/.test(path)).flatMap(path => lines(project.text(path) ?? '')),
  ...lines(/tests_require\s*=\s*\[([^\]]{0,2000})\]/.exec(setup)?.[1]?.replace(/[,'"]+/g, '\n') ?? ''),
]

/** Returns whether pytest is configured, or a test is written for it. */
const usesPytest = ({ project, pyproject, cfg }: Declarations): boolean =>
  valueAt(pyproject, 'tool', 'pytest') !== null ||
  project.has('pytest.ini') ||
  project.some(/(?:^|\/)conftest\.py$/) ||
  'tool:pytest' in cfg ||
  /\bpytest\b/.test(project.text('tox.ini') ?? '') ||
  project.matching(TESTS).some(path => OF_PYTEST.test(project.text(path) ?? ''))

export const isDeclared = ({ dependencies }: PythonNeeds, name: string) =>
  dependencies.some(line => line.toLowerCase().startsWith(name))

function installsOf({
  project,
  pyproject,
  extras,
  groups,
  requirements,
}: Declarations): PythonNeeds['installs'] {
  const installs = requirements.map(path => ({
    what: `-r ${path}`,
    from: path,
    why: 'its list of dependencies',
  }))
  const is_package =
    valueAt(pyproject, 'project', 'name') !== null ||
    valueAt(pyproject, 'tool', 'poetry', 'name') !== null ||
    project.has('setup.py') ||
    /^\[metadata\]/m.test(project.text('setup.cfg') ?? '')
  const from = project.first('pyproject.toml', 'setup.py', 'setup.cfg') ?? 'pyproject.toml'
  if (is_package)
    installs.push({
      what: extras.length > 0 ? `-e '.[${extras.join(',')}]'` : '-e .',
      from,
      why: extras.length > 0 ? `the package with ${extras.join(', ')}` : 'the package itself',
    })
  const groups_here = groups.filter(name => valueAt(pyproject, 'dependency-groups', name) !== null)
  for (const name of groups_here)
    installs.push({ what: `--group ${name}`, from: 'pyproject.toml', why: `the dependency group ${name}` })
  // pip does not know the groups of Poetry.
  for (const name of groups.filter(name => !groups_here.includes(name))) {
    const packages = namesOf(valueAt(pyproject, 'tool', 'poetry', 'group', name, 'dependencies')).filter(
      one => NAME.test(one),
    )
    if (packages.length > 0)
      installs.push({ what: packages.join(' '), from: 'pyproject.toml', why: `the group ${name} of Poetry` })
  }
  return installs
}

const only = (names: string[]) =>
  [...new Set(names.map(name => name.trim()))]
    .filter(name => FOR_TESTS.test(name) && NAME.test(name))
    .slice(0, 4)

const lines = (text: string) =>
  text
    .split('\n')
    .map(line => line.replace(/#.*/, '').trim())
    .filter(line => line !== '' && !line.startsWith('-'))
    .slice(0, 500)

type Ini = { [section: string]: { [key: string]: string } }

/** Values may continue in indented lines. */
function readIni(text: string): Ini {
  const ini: Ini = Object.create(null)
  let section = Object.create(null) as { [key: string]: string }
  let key = ''
  for (const line of text.split('\n').slice(0, 5_000)) {
    const heading = /^\[([^\]]{1,100})\]/.exec(line)?.[1]
    const [, name, value] = /^([\w.:-]{1,100})\s*[=:](.*)$/.exec(line) ?? []
    if (heading !== undefined) ini[heading] = section = Object.create(null)
    else if (name !== undefined) {
      key = name
      section[key] = (value ?? '').trimStart()
    } else if (/^\s+\S/.test(line) && key in section) section[key] += `\n${line.trim()}`
  }
  return ini
}

/**
 * Returns the module name for `import`: the one package of the repository, preferably with the project's
 * name.
 */
function moduleOf(project: Project, pyproject: ReturnType<Project['toml']>): string | null {
  const name =
    asText(valueAt(pyproject, 'project', 'name')) ??
    asText(valueAt(pyproject, 'tool', 'poetry', 'name')) ??
    /name\s*=\s*['"]([\w.-]{1,80})['"]/.exec(project.text('setup.py') ?? '')?.[1] ??
    /^name\s*=\s*([\w.-]{1,80})\s*$/m.exec(project.text('setup.cfg') ?? '')?.[1] ??
    ''
  const found = project
    .matching(/^(?:src\/|lib\/)?[a-zA-Z_]\w*(?:\/__init__)?\.py$/)
    .map(path => path.replace(/^(?:src|lib)\//, '').replace(/(?:\/__init__)?\.py$/, ''))
  const modules = found.filter(
    one =>
      !/^(?:setup|conftest|noxfile|tests?|docs?|examples?|fabfile|manage|tasks|versioneer|ez_setup|test_.*)$/.test(
        one,
      ),
  )
  const wanted = name.toLowerCase().replace(/[-.]/g, '_')
  return (
    modules.find(one => one.toLowerCase() === wanted) ??
    modules.find(one => wanted.endsWith(one.toLowerCase())) ??
    (modules.length === 1 ? (modules[0] ?? null) : null)
  )
}
