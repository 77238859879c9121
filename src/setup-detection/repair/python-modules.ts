/** Names of packages that differ from the modules that Python tests import; nothing else is ever installed because of an output. */
const TEST_MODULES: { [module: string]: string } = {
  ...Object.fromEntries(
    ['pytest', 'mock', 'hypothesis', 'coverage', 'six', 'parameterized', 'nose2', 'tox', 'wheel', 'numpy', 'requests', 'attrs'].map(
      name => [name, name],
    ),
  ),
  ...{
    setuptools: 'setuptools',
    pkg_resources: "'setuptools<81'",
    yaml: 'PyYAML',
    pytest_cov: 'pytest-cov',
    pytest_asyncio: 'pytest-asyncio',
  },
  ...{
    pytest_mock: 'pytest-mock',
    xdist: 'pytest-xdist',
    dateutil: 'python-dateutil',
    attr: 'attrs',
    ddt: 'ddt',
    freezegun: 'freezegun',
    responses: 'responses',
  },
}
const PLUGINS: [RegExp, string][] = [
  [/unrecognized arguments:[^\n]{0,1000}--cov|no such option: --cov/, 'pytest-cov'],
  [/unrecognized arguments:[^\n]{0,1000}(?:-n\b|--numprocesses|--dist)/, 'pytest-xdist'],
  [/unrecognized arguments:[^\n]{0,1000}--timeout|Unknown config option: timeout/, 'pytest-timeout'],
  [/Unknown config option: asyncio_|async def functions are not natively supported/, 'pytest-asyncio'],
  [/fixture 'mocker' not found/, 'pytest-mock'],
  [/fixture 'benchmark' not found|unrecognized arguments:[^\n]{0,1000}--benchmark/, 'pytest-benchmark'],
]

/** Returns the packages that the output of a failing test misses: of modules, and of plugins of pytest. */
export function missingPythonPackages(output: string): string[] {
  const modules = [...output.matchAll(/No module named '?([\w]+)/g)].flatMap(([, name]) =>
    name !== undefined && Object.hasOwn(TEST_MODULES, name) ? (TEST_MODULES[name] ?? []) : [],
  )
  const plugins = PLUGINS.flatMap(([pattern, name]) => (pattern.test(output) ? [name] : []))
  return [...new Set([...modules, ...plugins])]
}
