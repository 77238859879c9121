import type { Part, Suggestion } from '../proposal.ts'
import type { Project } from '../tree.ts'

/** Returns null when it is not a Ruby project. */
export function rubyPart(project: Project): Part | null {
  const gemspec = project.matching(/^[^/]+\.gemspec$/)[0] ?? null
  const manifest = project.first('Gemfile', 'gems.rb') ?? gemspec ?? project.first('Rakefile')
  if (manifest === null) return null
  const from = project.at(manifest)
  const bundled = manifest === 'Gemfile' || manifest === 'gems.rb'
  const lock = project.first('Gemfile.lock', 'gems.locked')
  const run = bundled ? 'bundle exec ' : ''
  const rakefile = project.text('Rakefile') ?? ''
  const suggest = (command: string, why: string): Suggestion => ({ command, from, why })
  const tests: Suggestion[] = []
  if (/\b(?:TestTask|Minitest::TestTask|task\s+:?['"]?test)\b/.test(rakefile))
    tests.push(suggest(`${run}rake test`, 'the task of its Rakefile'))
  if (project.some(/^spec\/.*_spec\.rb$/)) tests.push(suggest(`${run}rspec`, 'its specs'))
  if (tests.length === 0 && project.some(/^test\/(?:.*\/)?(?:test_[^/]*|[^/]*_test)\.rb$/))
    tests.push(suggest(`${run}ruby -Ilib -Itest -e 'Dir["test/**/{test_*,*_test}.rb"].each { |path| require ".." + path }'`, 'its tests'))
  const name = gemspec?.replace(/\.gemspec$/, '') ?? null
  const main =
    name !== null && /^[\w-]+$/.test(name) ? [name, name.replaceAll('-', '/')].find(one => project.has(`lib/${one}.rb`)) : undefined
  return {
    ecosystem: 'ruby',
    folder: project.folder,
    install: bundled
      ? [
          { command: 'bundle config set --local path vendor/bundle', from, why: 'gems are installed beside those of the system' },
          {
            command: 'bundle install',
            from: lock === null ? from : project.at(lock),
            why: lock === null ? 'there is no lockfile' : `${lock} is there`,
          },
        ]
      : [],
    tests,
    builds: [],
    smokes: [
      ...(main === undefined ? [] : [suggest(`${run}ruby -Ilib -e 'require "${main}"'`, `${main} can be loaded`)]),
      ...(bundled ? [suggest('bundle check', 'the installed packages match the declared ones')] : []),
    ],
    tools: [
      { binary: 'ruby', wanted: project.text('.ruby-version')?.trim().slice(0, 40) ?? null, from, package: 'ruby' },
      ...(bundled
        ? [{ binary: 'bundle', wanted: null, from, package: 'ruby-bundler' }]
        : tests.some(({ command }) => command.startsWith('rake'))
          ? [{ binary: 'rake', wanted: null, from, package: 'rake' }]
          : []),
    ],
    lockfiles: [manifest, ...(lock === null ? [] : [lock]), ...(gemspec === null || gemspec === manifest ? [] : [gemspec])].map(project.at),
    notes: [],
    // Gems of Debian are found without a bundle.
    ...(bundled && {
      offline: {
        install: [],
        tests: tests.map(one => ({ ...one, command: one.command.replace(/^bundle exec /, '') })),
        builds: [],
        smokes: main === undefined ? [] : [suggest(`ruby -Ilib -e 'require "${main}"'`, `${main} can be loaded`)],
      },
    }),
  }
}
