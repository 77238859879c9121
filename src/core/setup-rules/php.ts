import type { Part, Said } from './proposal.ts'
import { asText, asTexts, namesOf, type Project, valueAt } from './tree.ts'

/** Null: it is no project of PHP. */
export function phpPart(project: Project): Part | null {
  const manifest = project.json('composer.json')
  if (manifest === null) return null
  const from = project.at('composer.json')
  const said = (command: string, why: string): Said => ({ command, from, why })
  const lock = project.has('composer.lock')
  const script = valueAt(manifest, 'scripts', 'test')
  const text = asText(script) ?? asTexts(script).join('; ')
  const tests: Said[] = []
  if (text !== '') tests.push(said('composer test', `the script test: ${text.slice(0, 200)}`))
  if (namesOf(manifest['require-dev']).includes('pestphp/pest')) tests.push(said('vendor/bin/pest', 'Pest is a dependency'))
  else if (project.first('phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml') !== null)
    tests.push(said('vendor/bin/phpunit', 'the settings of PHPUnit are there'))
  return {
    ecosystem: 'php',
    folder: project.folder,
    install: [
      {
        command: 'composer install --no-interaction --no-progress',
        from: lock ? project.at('composer.lock') : from,
        why: lock ? 'composer.lock is there' : 'there is no lockfile',
      },
    ],
    tests,
    builds: [],
    smokes: [
      said('composer check-platform-reqs', 'what is installed goes with this PHP'),
      said(`php -r 'require "vendor/autoload.php";'`, 'what is installed can be loaded'),
    ],
    tools: [
      { binary: 'php', wanted: asText(valueAt(manifest, 'require', 'php')), from, package: 'php-cli' },
      { binary: 'composer', wanted: null, from, package: 'composer' },
    ],
    lockfiles: ['composer.json', 'composer.lock'].filter(project.has).map(project.at),
    notes: [],
  }
}
