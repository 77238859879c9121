const NAMES = new Set([
  ...[
    'package.json',
    'package-lock.json',
    'npm-shrinkwrap.json',
    'yarn.lock',
    '.yarnrc',
    '.yarnrc.yml',
    'pnpm-lock.yaml',
  ],
  ...[
    'pnpm-workspace.yaml',
    '.npmrc',
    '.pnpmfile.cjs',
    'bun.lock',
    'bun.lockb',
    'deno.json',
    'deno.jsonc',
    'deno.lock',
  ],
  ...[
    'pyproject.toml',
    'setup.py',
    'setup.cfg',
    'Pipfile',
    'Pipfile.lock',
    'poetry.lock',
    'uv.lock',
    'pdm.lock',
    'environment.yml',
  ],
  ...[
    'go.mod',
    'go.sum',
    'go.work',
    'go.work.sum',
    'Cargo.toml',
    'Cargo.lock',
    'rust-toolchain',
    'rust-toolchain.toml',
  ],
  ...[
    'pom.xml',
    'build.gradle',
    'build.gradle.kts',
    'settings.gradle',
    'settings.gradle.kts',
    'gradle.properties',
    'gradle.lockfile',
  ],
  ...[
    'libs.versions.toml',
    'gradle-wrapper.properties',
    'maven-wrapper.properties',
    'Gemfile',
    'Gemfile.lock',
    'gems.rb',
    'gems.locked',
  ],
  ...[
    'composer.json',
    'composer.lock',
    'mix.exs',
    'mix.lock',
    'conanfile.txt',
    'conanfile.py',
    'conan.lock',
    'vcpkg.json',
  ],
  ...[
    '.nvmrc',
    '.node-version',
    '.python-version',
    '.ruby-version',
    '.java-version',
    '.tool-versions',
    'mise.toml',
    'flake.lock',
  ],
  ...['Makefile.PL', 'Build.PL', 'cpanfile', 'cpanfile.snapshot', 'dist.ini'],
  // Files that a command uses by running a program without naming them.
  ...[
    'Makefile',
    'makefile',
    'GNUmakefile',
    'CMakeLists.txt',
    'configure',
    'configure.ac',
    'meson.build',
    'Rakefile',
    'justfile',
  ],
  ...['Taskfile.yml', 'tox.ini', 'noxfile.py', 'turbo.json', 'nx.json', 'lerna.json', '.gitmodules'],
  ...[
    'build.xml',
    'build.sbt',
    'Package.swift',
    'Package.resolved',
    'pubspec.yaml',
    'pubspec.lock',
    'deps.edn',
    'project.clj',
  ],
  ...[
    'environment.yaml',
    'conda-lock.yml',
    'pixi.toml',
    'pixi.lock',
    'pylock.toml',
    'rebar.config',
    'rebar.lock',
    'stack.yaml',
    'stack.yaml.lock',
  ],
  ...[
    'packages.lock.json',
    'nuget.config',
    'NuGet.Config',
    'global.json',
    'Directory.Packages.props',
    'Directory.Build.props',
  ],
])
const LIKE =
  /^(?:[\w.]{1,100}[-_])?(?:requirements|constraints)[^/]{0,200}\.(?:txt|in|lock)$|\.(?:gemspec|csproj|fsproj|sln|cabal|podspec)$/
/** After one of these, paths begin in another folder than the root of the repository. */
const OTHER_FOLDER = /(?:^|[\s;&|(])(?:cd|pushd|-C|--prefix|--cwd|--dir|--directory|--project)[\s=]/

/** The maximum length of a path; longer ones are omitted wherever files of a commit are listed. */
export const LONGEST_PATH = 300

/**
 * Returns whether a file of the repository affects what these commands prepare: it declares dependencies or
 * tools, or a command names it.
 */
export function isManifest(path: string, commands: readonly string[]): boolean {
  if (path.length > LONGEST_PATH) return false
  const folders = path.split('/')
  const name = folders.pop() ?? ''
  if (
    commands.some(
      command => command.includes(path) || (OTHER_FOLDER.test(command) && isNamedFromParent(path, command)),
    )
  )
    return true
  return (
    NAMES.has(name) ||
    LIKE.test(name) ||
    isDependencyPatch(folders, name) ||
    (folders.at(-1) === 'requirements' && /\.(?:txt|in)$/.test(name))
  )
}

/** A patch of a dependency, or a dependency, in a folder where package managers read them. */
function isDependencyPatch(folders: readonly string[], name: string): boolean {
  if (folders.includes('patches') && name.endsWith('.patch')) return true
  if (folders.includes('.mvn') || (folders.at(-1) === '.cargo' && /^config(?:\.toml)?$/.test(name)))
    return true
  return folders.some(
    (folder, i) => folder === '.yarn' && /^(?:patches|plugins|releases)$/.test(folders[i + 1] ?? ''),
  )
}

/** Returns whether a word of the command is the path relative to one of its parent folders. */
function isNamedFromParent(path: string, command: string): boolean {
  const words = command.split(/[\s"'`;&|()<>=]+/).map(word => word.replace(/^(?:\.\/)+/, ''))
  return words.some(word => word !== '' && path.endsWith(`/${word}`))
}
