import type { Part, Suggestion, Tool } from '../proposal.ts'
import type { Project } from '../tree.ts'

/** The files of a Ruby project, and how its commands are executed. */
type Ruby = {
  project: Project
  gemspec: string | null
  lock: string | null
  /** Whether a Gemfile declares its gems. */
  bundled: boolean
  /** The manifest, in the repository. */
  from: string
  /** What precedes a command. */
  prefix: string
  suggest(command: string, why: string): Suggestion
}

/** Returns null when it is not a Ruby project. */
export function rubyPart(project: Project): Part | null {
  const gemspec = project.matching(/^[^/]+\.gemspec$/)[0] ?? null
  const manifest = project.first('Gemfile', 'gems.rb') ?? gemspec ?? project.first('Rakefile')
  if (manifest === null) return null
  const from = project.at(manifest)
  const lock = project.first('Gemfile.lock', 'gems.locked')
  const bundled = manifest === 'Gemfile' || manifest === 'gems.rb'
  const suggest = (command: string, why: string): Suggestion => ({ command, from, why })
  const ruby: Ruby = { project, gemspec, lock, bundled, from, prefix: bundled ? 'bundle exec ' : '', suggest }
  const tests = testsOf(ruby)
  const library = libraryOf(ruby)
  const load = (prefix: string) =>
    library === undefined
      ? []
      : [suggest(`${prefix}ruby -Ilib -e 'require "${library}"'`, `${library} can be loaded`)]
  return {
    ecosystem: 'ruby',
    folder: project.folder,
    install: bundled ? bundleCommands(ruby) : [],
    tests,
    builds: [],
    smokes: [
      ...load(ruby.prefix),
      ...(bundled ? [suggest('bundle check', 'the installed packages match the declared ones')] : []),
    ],
    tools: toolsFor(ruby, tests),
    lockfiles: [
      manifest,
      ...(lock === null ? [] : [lock]),
      ...(gemspec === null || gemspec === manifest ? [] : [gemspec]),
    ].map(project.at),
    notes: [],
    // Gems of Debian are found without a bundle.
    ...(bundled && {
      offline: {
        install: [],
        tests: tests.map(one => ({ ...one, command: one.command.replace(/^bundle exec /, '') })),
        builds: [],
        smokes: load(''),
      },
    }),
  }
}

function testsOf({ project, prefix, suggest }: Ruby): Suggestion[] {
  const tests: Suggestion[] = []
  if (/\b(?:TestTask|Minitest::TestTask|task\s+:?['"]?test)\b/.test(project.text('Rakefile') ?? ''))
    tests.push(suggest(`${prefix}rake test`, 'the task of its Rakefile'))
  if (project.some(/^spec\/.*_spec\.rb$/)) tests.push(suggest(`${prefix}rspec`, 'its specs'))
  if (tests.length === 0 && project.some(/^test\/(?:.*\/)?(?:test_[^/]*|[^/]*_test)\.rb$/))
    tests.push(
      suggest(
        `${prefix}ruby -Ilib -Itest -e 'Dir["test/**/{test_*,*_test}.rb"].each { |path| require ".." + path }'`,
        'its tests',
      ),
    )
  return tests
}

/** Returns what `require` loads: the file in `lib` that has the name of the gem. */
function libraryOf({ project, gemspec }: Ruby): string | undefined {
  const gem = gemspec?.replace(/\.gemspec$/, '') ?? ''
  return /^[\w-]+$/.test(gem)
    ? [gem, gem.replaceAll('-', '/')].find(one => project.has(`lib/${one}.rb`))
    : undefined
}

const bundleCommands = ({ project, lock, from }: Ruby): Suggestion[] => [
  {
    command: 'bundle config set --local path vendor/bundle',
    from,
    why: 'gems are installed beside those of the system',
  },
  {
    command: 'bundle install',
    from: lock === null ? from : project.at(lock),
    why: lock === null ? 'there is no lockfile' : `${lock} is there`,
  },
]

function toolsFor({ project, bundled, from }: Ruby, tests: Suggestion[]): Tool[] {
  const tools: Tool[] = [
    {
      binary: 'ruby',
      wanted: project.text('.ruby-version')?.trim().slice(0, 40) ?? null,
      from,
      package: 'ruby',
    },
  ]
  if (bundled) tools.push({ binary: 'bundle', wanted: null, from, package: 'ruby-bundler' })
  else if (tests.some(({ command }) => command.startsWith('rake')))
    tools.push({ binary: 'rake', wanted: null, from, package: 'rake' })
  return tools
}
