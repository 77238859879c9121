/**
 * A change of a command for a message in its output. The first rule that matches and was not applied yet is
 * tried. `whole`: applied to the whole command, not only to the failing line.
 */
type CommandRule = {
  id: string
  why: string
  command: RegExp
  output: RegExp
  /** `needs`: packages that must not be excluded. */
  to(command: string, output: string, needs: readonly string[]): string[]
  whole?: true
}

const flag = (text: string) => (command: string) => [command.includes(text) ? command : `${command} ${text}`]
const swap = (from: RegExp, to: string) => (command: string) => [command.replace(from, to)]

const NPM = /\bnpm (?:ci|install)\b(?! --global)/
const PNPM = /\bpnpm install\b/
const YARN1 = /\byarn install --non-interactive\b/
const YARN = /(?:\byarn|yarn-[\w.]+\.cjs) install\b(?! --non-interactive)/
const SCRIPT_FAILED =
  /npm error (?:command failed|path [^\n]{0,500}\n(?:npm error )?command failed)|npm error code (?:ELIFECYCLE|\d+)\b|gyp ERR!|husky|ELIFECYCLE|\berror Command failed|Command failed with exit code|node-pre-gyp|prebuild-install/

const ABSENT =
  /No matching version found for (@?[\w./-]{1,120}?)@|'(@?[\w./-]{1,120}?)@[^'\n]{0,100}' (?:is not in this registry|could not be found)/

/** A package that is not only for development stays: then nothing has changed, and the rule is skipped. */
function withoutAbsent(command: string, output: string, needs: readonly string[]): string[] {
  const [, one, other] = ABSENT.exec(output) ?? []
  const name = one ?? other ?? ''
  const install = command.split(' && ').find(part => part.startsWith('npm install')) ?? command
  const known = [...command.matchAll(/'devDependencies\[([^[\]]+)\]'/g)].map(([, known]) => known ?? '')
  if (name === '' || known.includes(name) || needs.includes(name)) return [command]
  const keys = [...known, name].map(key => `'devDependencies[${key}]'`).join(' ')
  return [`npm pkg delete ${keys} && ${install} && git checkout -- package.json`]
}

export const COMMAND_RULES: readonly CommandRule[] = [
  {
    id: 'npm_lock',
    why: 'the lockfile does not go with package.json',
    command: /\bnpm ci\b/,
    output:
      /EUSAGE|in sync|Missing: [^\n]{0,500} from lock file|can only install with an existing package-lock/,
    to: swap(/\bnpm ci\b/, 'npm install --no-audit --no-fund'),
  },
  {
    id: 'pnpm_lock',
    why: 'the lockfile does not go with package.json',
    command: /--frozen-lockfile/,
    output:
      /ERR_PNPM_(?:OUTDATED_LOCKFILE|LOCKFILE_CONFIG_MISMATCH|LOCKFILE_BREAKING_CHANGE|NO_LOCKFILE|BROKEN_LOCKFILE|LOCKFILE_MISSING_DEPENDENCY)/,
    to: swap(/--frozen-lockfile/, '--no-frozen-lockfile'),
  },
  {
    id: 'yarn_lock',
    why: 'the lockfile does not go with package.json',
    command: / --frozen-lockfile/,
    output: /lockfile needs to be updated/,
    to: swap(/ --frozen-lockfile/, ''),
  },
  {
    id: 'yarn_immutable',
    why: 'the lockfile does not go with package.json',
    command: YARN,
    output: /YN0028|lockfile would have been modified/,
    to: swap(/ install(?: --immutable)?/, ' install --no-immutable'),
  },
  {
    id: 'uv_lock',
    why: 'the lockfile does not go with pyproject.toml',
    command: /\buv sync --locked/,
    output: /lockfile[^\n]{0,500} needs to be updated|outdated/i,
    to: swap(/ --locked/, ''),
  },
  {
    id: 'poetry_lock',
    why: 'the lockfile does not go with pyproject.toml',
    command: /\bpoetry install\b/,
    output: /changed significantly|not up to date|lock file is not compatible/,
    to: command => [command.replace(/poetry install.{0,1000}$/, 'poetry lock'), command],
  },
  {
    id: 'cargo_lock',
    why: 'the lockfile does not go with Cargo.toml',
    command: /^cargo .*--locked/,
    output: /needs to be updated but --locked/,
    to: swap(/ --locked/, ''),
  },
  {
    id: 'composer_lock',
    why: 'the lockfile does not go with composer.json',
    command: /\bcomposer install\b/,
    output: /not present in the lock file|lock file is not up to date/,
    to: swap(/composer install/, 'composer update'),
  },
  {
    id: 'composer_platform',
    why: 'this PHP lacks an extension that a package requires',
    command: /\bcomposer (?:install|update)\b/,
    output: /requires (?:php|ext-)|platform requirement|is missing from your system/,
    to: flag('--ignore-platform-reqs'),
  },
  {
    id: 'peer_dependencies',
    why: 'peer dependencies contradict each other',
    command: NPM,
    output: /ERESOLVE/,
    to: flag('--legacy-peer-deps'),
  },
  {
    id: 'npm_engine',
    why: 'a package requires another version of Node',
    command: NPM,
    output: /EBADENGINE/,
    to: flag('--engine-strict=false'),
  },
  {
    id: 'pnpm_engine',
    why: 'a package requires another version of Node',
    command: PNPM,
    output: /ERR_PNPM_UNSUPPORTED_ENGINE/,
    to: flag('--config.engine-strict=false'),
  },
  {
    id: 'yarn_engine',
    why: 'a package requires another version of Node',
    command: YARN1,
    output: /The engine "[^"]+" is incompatible/,
    to: flag('--ignore-engines'),
  },
  {
    id: 'npm_force',
    why: 'it is for another platform or manager',
    command: NPM,
    output: /EBADDEVENGINES|EBADPLATFORM/,
    to: flag('--force'),
  },
  {
    id: 'workspace_protocol',
    why: 'npm does not know the workspace protocol',
    command: NPM,
    output: /EUNSUPPORTEDPROTOCOL/,
    to: command => [
      'npm install --global @yarnpkg/cli-dist@4',
      command.replace(/\bnpm (?:ci|install).{0,1000}$/, 'yarn install'),
    ],
  },
  {
    id: 'npm_absent',
    why: 'a package is not in the registry: it may be only for development',
    command: /^npm install\b(?! --global)|^npm pkg delete/,
    output: ABSENT,
    to: withoutAbsent,
    whole: true,
  },
  {
    id: 'yarn1_mirror',
    why: 'its lockfile names a registry that cannot be reached, and there is a copy of that',
    command: /^(?:~\/\.local\/bin\/)?yarn install --non-interactive\b/,
    output:
      /self-signed certificate|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|ESOCKETTIMEDOUT|EAI_AGAIN|tunneling socket|network connection/,
    to: command => [
      `test -n "$npm_config_registry" && sed -i -E "s#https://registry[.](yarnpkg[.]com|npmjs[.]org)#\${npm_config_registry%/}#" yarn.lock && ${command} && git checkout -- yarn.lock`,
    ],
  },
  {
    id: 'npm_scripts',
    why: 'a script of a package failed',
    command: NPM,
    output: SCRIPT_FAILED,
    to: flag('--ignore-scripts'),
  },
  {
    id: 'pnpm_scripts',
    why: 'a script of a package failed',
    command: PNPM,
    output: SCRIPT_FAILED,
    to: flag('--ignore-scripts'),
  },
  {
    id: 'yarn1_scripts',
    why: 'a script of a package failed',
    command: YARN1,
    output: SCRIPT_FAILED,
    to: flag('--ignore-scripts'),
  },
  {
    id: 'yarn_scripts',
    why: 'a script of a package failed',
    command: YARN,
    output: /YN0009|YN0058|couldn't be built successfully/,
    to: flag('--mode=skip-build'),
  },
  {
    id: 'externally_managed',
    why: 'the Python of the system takes no packages',
    command: /^(?:sudo )?(?:python3? -m )?pip3? install\b/,
    output: /externally-managed-environment/,
    to: command => ['python3 -m venv .venv', command.replace(/^(?:python3? -m )?pip3?/, '.venv/bin/pip')],
  },
  {
    id: 'old_pip',
    why: 'this pip is too old for it',
    command: /^\.venv\/bin\/pip install\b/,
    output:
      /no such option: --group|not a PEP 517|requires pip|A newer version of pip|setup\.py.{0,40}not found.{0,80}editable/,
    to: command => ['.venv/bin/pip install --upgrade pip', command],
  },
  {
    id: 'setuptools',
    why: 'building it needs setuptools',
    command: /^\.venv\/bin\/pip install\b/,
    output: /No module named '?(?:setuptools|pkg_resources|distutils)/,
    to: command => [".venv/bin/pip install 'setuptools<81' wheel", `${command} --no-build-isolation`],
  },
  {
    id: 'extras',
    why: 'the package has no such extras',
    command: /^\.venv\/bin\/pip install -e '\.\[/,
    output: /does not provide the extra|Invalid requirement/i,
    to: swap(/-e '\.\[[^[\]]*\]'/, '-e .'),
  },
  {
    id: 'cmake_policy',
    why: 'it was written for a CMake that is no longer',
    command: /^cmake -S/,
    output: /Compatibility with CMake < [\d.]+ has been removed/,
    to: flag('-DCMAKE_POLICY_VERSION_MINIMUM=3.5'),
  },
  {
    id: 'make_default',
    why: 'what make does by default fails by itself, so it is left out',
    command: /^make$/,
    output: /\*\*\* \[(?:[^\]\n]{1,200}: )?(?:all|default|help|usage)\] Error (?!127\b)/,
    to: () => [],
  },
  {
    id: 'not_executable',
    why: 'the file is not executable',
    command: /^\.\/[\w./-]+/,
    output: /Permission denied/,
    to: command => [`sh ${command}`],
  },
  {
    id: 'go_sum',
    why: 'go.sum lacks entries',
    command: /^go\b/,
    output: /missing go\.sum entry|updates to go\.mod needed/,
    to: command => ['go mod tidy', command],
  },
  {
    id: 'bundle_platform',
    why: 'the lockfile is for other platforms',
    command: /^bundle install\b/,
    output: /only supports platforms/,
    to: command => ['bundle lock --add-platform x86_64-linux', command],
  },
]
