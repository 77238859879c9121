import { deletesForeignFiles, makeGoals, runsDownloads, withSingleBlanks, wordsOf } from './command-words.ts'

/** The purpose of a command that its words show. `left_out`: nothing that a sandbox could or should do. */
export type CommandKind = 'install' | 'build' | 'test' | 'other' | 'left_out'
type Kind = { kind: CommandKind; ecosystem: string | null; why_not?: string }

type Rule = [pattern: RegExp, kind: CommandKind, ecosystem: string | null]

/** The longest command that rules examine; nobody types a longer one. */
export const MAX_COMMAND_CHARS = 2_000

/** Reported wherever it occurs: people would run it, and its effect is unknown. */
export const RUNS_DOWNLOADS = 'runs what it downloads'

/**
 * Commands that need privileges or services that no sandbox has, change the machine, or publish something.
 * Here and below no pattern has nested repetitions that can match the same text in two ways: a repository or
 * a model could otherwise keep the service busy.
 */
const LEFT_OUT: [RegExp, string][] = [
  [
    /^\s*(?:sudo|apt|apt-get|aptitude|brew|apk|yum|dnf|pacman|snap|choco|winget|port)\s|&&\s*(?:sudo|apt-get|apt)\s/,
    'installs packages of the system',
  ],
  [
    /\b(?:docker|podman|docker-compose|systemctl|service|kubectl|helm|minikube|terraform|vagrant)\s/,
    'needs services that a sandbox does not have',
  ],
  [
    /^\s*(?:nvm|fnm|corepack|pyenv|rbenv|rvm|rustup|asdf|mise|volta|sdk|conda|mamba|pipx|n)\s/,
    'installs a toolchain',
  ],
  [
    /\b(?:publish|codecov|coveralls|deploy|semantic-release|twine|gh|aws|gcloud|az|ssh|scp|rsync)\b/,
    'tells others',
  ],
  [
    /\bgit\s+(?:push|commit|tag|config|clone|checkout|fetch|pull|remote|submodule)\b/,
    'is about the repository itself',
  ],
  [/\$\{\{|<[a-z][\w -]*>|\{\{|%[A-Z_]+%/, 'has a placeholder'],
  [
    /^\s*(?:echo|ls|cat|pwd|env|printenv|which|whoami|date|true|sleep|code|open|vim?|nano|curl|wget|#)(?:\s|$)|\s(?:--version|-v|-V|--help)\s*$/,
    'prepares nothing',
  ],
  [
    /\b(?:start|serve|dev|watch|preview|storybook)\s*$|runserver\b|^\s*(?:flask|uvicorn|rails)\s+(?:run|s|server)\b/,
    'does not end by itself',
  ],
  [/[\0\u001b]/, 'has control characters'],
]

const NODE = '(?:npm|(?:~/\\.local/bin/)?(?:pnpm|yarn)|bun|npx(?:\\s+--?\\w+){0,10}\\s+(?:pnpm|yarn)\\S*)'
const PIP = '(?:\\S*pip3?|(?:\\S*python3?)\\s+-m\\s+pip|uv\\s+pip)'

const RULES: Rule[] = [
  // With a package name it would add a dependency to a project, not prepare this one.
  [new RegExp(`^${NODE}\\s+(?:i|install|add)\\s+(?:-\\S+\\s+)*[@\\w]`), 'left_out', 'node'],
  [
    new RegExp(
      `^(?:npm\\s+(?:ci|i|install|clean-install)|(?:pnpm|bun|${NODE})\\s+(?:i|install)|yarn(?:\\s+install)?)(?:\\s+-\\S+)*$`,
    ),
    'install',
    'node',
  ],
  [
    new RegExp(
      `^(?:\\w+=\\S+\\s+)*(?:${NODE}|node)\\s+(?:run\\s+|run-script\\s+)?(?:test|tests|t|check|--test)(?:[:\\w-]*)(?:\\s|$)`,
    ),
    'test',
    'node',
  ],
  [
    new RegExp(
      `^${NODE}\\s+(?:run\\s+|run-script\\s+)?(?:lint|format|fmt|prettier|docs?|e2e|size|bench|coverage|clean|prepublish)\\S*`,
    ),
    'left_out',
    'node',
  ],
  [
    new RegExp(
      `^(?:\\w+=\\S+\\s+)*${NODE}\\s+(?:run\\s+|run-script\\s+)?(?:build|compile|tsc|typecheck|type-check|generate|codegen|prepare|bootstrap)\\S*`,
    ),
    'build',
    'node',
  ],
  [/^(?:npx|pnpm exec|yarn)\s+(?:jest|vitest|mocha|ava|tap|tape|uvu)\b/, 'test', 'node'],
  [
    new RegExp(
      `^${PIP}\\s+install\\s+(?:-\\S+\\s+)*(?:pip|setuptools|wheel|uv|poetry|tox|nox|hatch|pipenv|pre-commit|build)(?:[<>=~]\\S*)?(?:\\s+(?:pip|setuptools|wheel|build))*$`,
    ),
    'left_out',
    'python',
  ],
  [new RegExp(`^${PIP}\\s+install\\b.*(?:-r\\s|--requirement|-e\\s|\\s\\.|--group)`), 'install', 'python'],
  [new RegExp(`^${PIP}\\s+install\\b`), 'left_out', 'python'],
  [
    /^(?:uv sync|poetry install|pipenv install|pdm install|hatch env create|\S*python3? -m venv|virtualenv|python3? setup\.py (?:develop|install))/,
    'install',
    'python',
  ],
  [
    /^(?:\w+=\S+\s+)*(?:(?:uv|poetry|pipenv|pdm|hatch) run\s+)?(?:\S*python3?\s+-m\s+)?(?:pytest|unittest|nose2?)(?:\s|$)/,
    'test',
    'python',
  ],
  [/^(?:\S*python3?\s+(?:setup\.py test|manage\.py test|\S*(?:run_?tests?|tests?)\.py))/, 'test', 'python'],
  [/^(?:tox|nox)\b/, 'left_out', 'python'],
  [/^go\s+mod\s+(?:download|vendor|verify)/, 'install', 'go'],
  [/^go\s+(?:get|install)\s/, 'left_out', 'go'],
  [/^(?:\w+=\S+\s+)*go\s+test\b/, 'test', 'go'],
  [/^(?:\w+=\S+\s+)*go\s+(?:build|vet|generate)\b/, 'build', 'go'],
  [/^cargo\s+fetch/, 'install', 'rust'],
  [/^cargo\s+(?:add|install|fmt|clippy|doc|bench|audit|deny|update|miri|\+)/, 'left_out', 'rust'],
  [/^(?:\w+=\S+\s+)*cargo\s+(?:test|t|nextest)\b/, 'test', 'rust'],
  [/^(?:\w+=\S+\s+)*cargo\s+(?:build|b|check)\b/, 'build', 'rust'],
  [/^(?:sh\s+)?(?:\.\/)?(?:mvnw|mvn)\b.*\b(?:test|verify)\b/, 'test', 'java'],
  [/^(?:sh\s+)?(?:\.\/)?(?:mvnw|mvn)\b/, 'build', 'java'],
  [/^(?:sh\s+)?(?:\.\/)?(?:gradlew|gradle)\b.*\b(?:test|check)\b/, 'test', 'java'],
  [/^(?:sh\s+)?(?:\.\/)?(?:gradlew|gradle)\b/, 'build', 'java'],
  [/^(?:bundle(?:\s+install)?$|bundle (?:install|config)\b|(?:bin\/)?setup$)/, 'install', 'ruby'],
  [/^gem\s+install/, 'left_out', 'ruby'],
  [/^(?:bundle exec\s+)?(?:rake\s+(?:test|spec)\b|rake$|rspec\b|m\b|minitest\b)/, 'test', 'ruby'],
  [/^(?:php\s+)?(?:\S*composer(?:\.phar)?)\s+(?:install|update)\b/, 'install', 'php'],
  [
    /^(?:php\s+)?(?:\S*composer(?:\.phar)?)\s+(?:run\s+|run-script\s+)?test\b|^(?:php\s+)?(?:\.\/)?vendor\/bin\/(?:phpunit|pest)\b/,
    'test',
    'php',
  ],
  [/^\S*composer\b/, 'left_out', 'php'],
  [/^(?:\w+=\S+\s+){0,20}perl\s+(?:-\S+\s+)*(?:Makefile|Build)\.PL\b/, 'install', 'perl'],
  [/^(?:\w+=\S+\s+)*(?:prove\b|(?:perl\s+)?\.?\/?Build\s+test\b)/, 'test', 'perl'],
  [/^(?:perl\s+)?(?:\.\/)?Build\s*$/, 'build', 'perl'],
  [/^(?:cpanm?|cpan[-_]\S+|dzil|minil|carton|(?:perl\s+)?(?:\.\/)?Build\s)\b/, 'left_out', 'perl'],
  [/^(?:ctest|meson test)\b/, 'test', 'c'],
  [/^(?:cmake|make|ninja|meson|\.\/configure|\.\/autogen\.sh|\.\/bootstrap|autoreconf)\b/, 'build', 'c'],
  [/^(?:(?:ba)?sh\s+)?(?:\.\/)?(?:[\w.-]+\/){0,3}(?:run[-_]?)?(?:all[-_]?)?tests?\.sh(?:\s|$)/, 'test', null],
  [
    /^(?:ruff|flake8|black|isort|mypy|eslint|prettier|pre-commit|golangci-lint|rubocop|shellcheck|pylint)\b/,
    'left_out',
    null,
  ],
]

const OF_GOALS: readonly Rule[] = [
  [
    /^(?:install|dist|clean|distclean|lint|fmt|format|docs?|release|run|dev|serve|start|deploy|help)\b/,
    'left_out',
    'c',
  ],
  [/^(?:test|tests|check|unit|unittest)\b/, 'test', 'c'],
]
const OTHER: Rule = [/^/, 'other', null]

/** Returns `other` for a command that is too long to examine. */
export function kindOf(command: string): Kind {
  if (command.length > MAX_COMMAND_CHARS) return { kind: 'other', ecosystem: null }
  const inner = withSingleBlanks(command)
    .replace(/^\((?:cd\s\S+\s&&\s)?/, '')
    .replace(/\)$/, '')
    .trim()
  const words = wordsOf(inner)
  const refused = whyLeftOut(inner, words)
  const [, kind, ecosystem] = ruleForMake(words) ?? RULES.find(([pattern]) => pattern.test(inner)) ?? OTHER
  return refused === null || kind === 'left_out'
    ? { kind, ecosystem }
    : { kind: 'left_out', ecosystem: null, why_not: refused }
}

/** The most specific reason comes first. */
function whyLeftOut(inner: string, words: readonly string[]): string | null {
  if (runsDownloads(inner)) return RUNS_DOWNLOADS
  if (deletesForeignFiles(words)) return 'deletes more than it created'
  return LEFT_OUT.find(([pattern]) => pattern.test(inner))?.[1] ?? null
}

function ruleForMake(words: readonly string[]): Rule | undefined {
  const goals = makeGoals(words)
  return OF_GOALS.find(([pattern]) => goals.some(goal => pattern.test(goal)))
}
