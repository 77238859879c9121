import { SOURCES } from './hints/command-hints.ts'

const MANIFESTS = new Set([
  ...['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'yarn.lock', '.yarnrc.yml'],
  ...['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', 'requirements.txt'],
  ...['go.mod', 'go.work', 'Cargo.toml', 'rust-toolchain.toml', 'rust-toolchain'],
  ...[
    'pom.xml',
    'build.xml',
    'build.gradle',
    'build.gradle.kts',
    'Rakefile',
    '.ruby-version',
    'composer.json',
  ],
  ...['Makefile.PL', 'Build.PL', 'cpanfile', 'dist.ini'],
  ...['CMakeLists.txt', 'Makefile', 'makefile', 'GNUmakefile', 'Makefile.am', 'Makefile.in'],
])
const REQUIREMENTS =
  /^(?:(?:dev|tests?|testing)[-_])?requirements(?:[-_.]\w+)?\.(?:txt|in)$|^requirements\/\w+\.(?:txt|in)$|^tests?\/requirements\.txt$/
/** Python tests declare their framework only in their own code. */
const TESTS_OF_PYTHON = /(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$/
const MAX_TESTS = 4
const ALONE = new Set(['.cargo/config.toml', '.cargo/config'])
const MAX_FILES = 120

/** Folders that contain no project of the repository's own. */
export const NOT_OWN =
  /^(?:\..*|node_modules|vendor|third[-_]?party|external|deps|docs?|documentation|examples?|samples?|tests?|spec|fixtures?|testdata|bench(?:marks?)?|website|site|contrib|packaging|debian|dist|build|scripts|tools|ci|share|man|po)$/i

/**
 * Returns the paths of files that describe the setup: of the root, and the manifests of the folders in it.
 */
export function pathsToRead(paths: readonly string[]): string[] {
  const wanted = paths.filter(path => {
    const parts = path.split('/')
    const name = parts.at(-1) ?? ''
    if (SOURCES.some(([pattern]) => pattern.test(path)) || ALONE.has(path) || REQUIREMENTS.test(path))
      return true
    return (
      MANIFESTS.has(name) && (parts.length === 1 || (parts.length === 2 && !NOT_OWN.test(parts[0] ?? '')))
    )
  })
  const shallow = (a: string, b: string) => depth(a) - depth(b)
  const tests = paths.filter(path => TESTS_OF_PYTHON.test(path))
  return [...wanted.sort(shallow).slice(0, MAX_FILES), ...tests.sort(shallow).slice(0, MAX_TESTS)]
}

const depth = (path: string) => path.split('/').length
