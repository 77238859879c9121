import packages from './packages.json' with { type: 'json' }

/**
 * Names of packages that differ from the modules that Python tests import; nothing else is ever installed
 * because of an output.
 */
const modules_of_tests = new Map(Object.entries(packages.python_modules))

/** Returns the packages that the output of a failing test misses: of modules, and of plugins of pytest. */
export function missingPythonPackages(output: string): string[] {
  const modules = [...output.matchAll(/No module named '?([\w]+)/g)].flatMap(
    ([, name = '']) => modules_of_tests.get(name) ?? [],
  )
  const plugins = packages.pytest_plugins
    .filter(row => new RegExp(row.pattern).test(output))
    .map(row => row.package)
  return [...new Set([...modules, ...plugins])]
}
