import type { Part, Suggestion, Toolchain } from '../proposal.ts'
import { isPlainWord } from '../shell-lines.ts'
import { asText, asTexts, asValues, namesOf, type Project, valueAt } from '../tree.ts'

const SETTINGS = ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml'] as const

/** Returns null when it is not a PHP project. */
export function phpPart(project: Project, toolchain: Toolchain): Part | null {
  const manifest = project.json('composer.json')
  const settings = project.first(...SETTINGS)
  if (manifest === null && settings === null) return null
  const from = project.at(manifest === null ? (settings ?? '') : 'composer.json')
  const suggest = (command: string, why: string): Suggestion => ({ command, from, why })
  const lock = project.has('composer.lock')
  const needed = [...namesOf(manifest?.require), ...namesOf(manifest?.['require-dev'])]
  const script = valueAt(manifest, 'scripts', 'test')
  const text = asText(script) ?? asTexts(script).join('; ')
  const php = { binary: 'php', wanted: asText(valueAt(manifest, 'require', 'php')), from, package: 'php-cli' }
  const lint = lintOf(project, manifest).map(command => suggest(command, 'all of it can be parsed'))
  const named = { ecosystem: 'php', folder: project.folder, builds: [], notes: [] }
  /** Without settings the runner needs the folder of the tests. */
  const where = settings !== null ? '' : project.some(/^tests\/(?:.*\/)?\w+Test\.php$/) ? ' tests' : null
  const byPhpunit = (phpunit: string, why: string) =>
    where === null ? [] : [suggest(`${phpunit}${where}`, why)]
  const of_machine = byPhpunit('phpunit', "the machine's PHPUnit")
  if (manifest === null) {
    const phpunit = { binary: 'phpunit', wanted: null, from, package: 'phpunit' }
    return {
      ...named,
      install: [],
      tests: of_machine,
      smokes: lint,
      tools: [php, phpunit],
      lockfiles: [from],
    }
  }

  const declared = needed.includes('phpunit/phpunit')
  const tests: Suggestion[] = []
  if (text !== '') tests.push(suggest('composer test', `the script test: ${text.slice(0, 200)}`))
  if (needed.includes('pestphp/pest')) tests.push(suggest('vendor/bin/pest', 'Pest is a dependency'))
  else if (declared || !toolchain.has('phpunit'))
    tests.push(...byPhpunit('vendor/bin/phpunit', 'the tests are for PHPUnit'))
  else tests.push(...of_machine)
  return {
    ...named,
    install: [
      {
        command: 'composer install --no-interaction --no-progress',
        from: lock ? project.at('composer.lock') : from,
        why: lock ? 'composer.lock is there' : 'there is no lockfile',
      },
    ],
    tests,
    smokes: [
      ...lint,
      suggest('composer check-platform-reqs', 'what is installed goes with this PHP'),
      suggest(`php -r 'require "vendor/autoload.php";'`, 'what is installed can be loaded'),
    ],
    tools: [php, { binary: 'composer', wanted: null, from, package: 'composer' }],
    lockfiles: ['composer.json', 'composer.lock'].filter(project.has).map(project.at),
    offline: {
      install: [suggest('composer dump-autoload --no-interaction', 'its own classes are found')],
      tests: toolchain.has('phpunit') ? of_machine : [],
      builds: [],
      smokes: [],
    },
  }
}

/** Each of them is searched for among all paths. */
const MAX_FOLDERS = 50

/** Returns a command that parses the autoloaded files of the package. */
function lintOf(project: Project, manifest: { [key: string]: unknown } | null): string[] {
  const autoload = asValues(manifest?.autoload) ?? {}
  const named = ['psr-4', 'psr-0'].flatMap(key =>
    Object.values(asValues(autoload[key]) ?? {}).flatMap(one => [asText(one) ?? [], asTexts(one)]),
  )
  const folders = [...named.flat(), 'src', 'lib']
    .map(path => path.replace(/^\.\//, '').replace(/(?<!\/)\/+$/, ''))
    .filter(path => path !== '' && isPlainWord(path))
  const found = [...new Set(folders)]
    .slice(0, MAX_FOLDERS)
    .filter(path => project.some(new RegExp(`^${RegExp.escape(path)}/.*\\.php$`)))
    .slice(0, 5)
  return found.length === 0
    ? []
    : [`! find ${found.join(' ')} -name '*.php' -exec php -l {} \\; | grep -v '^No syntax errors'`]
}
