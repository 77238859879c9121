import type { FailedTest } from '../finding.ts'
import { nextLocation, once, type Runner } from './runner.ts'

const rspec: Runner = {
  name: 'RSpec',
  read: lines =>
    lines.flatMap((line): FailedTest[] => {
      const found = /^rspec (?:'?)(\S{1,300}_spec\.rb(?::\d{1,7}|\[[\d:]{1,40}\])?)'? # (.{1,300})$/.exec(
        line,
      )
      return found ? [{ name: found[2] ?? '', location: (found[1] ?? '').replace(/^\.\//, '') }] : []
    }),
}

const minitest: Runner = {
  name: 'minitest',
  read: lines =>
    lines.flatMap((line, i): FailedTest[] => {
      if (!/^(?:\s+\d{1,6}\) )?(?:Failure|Error):$/.test(line)) return []
      const found = /^([\w:]{1,200}#.{1,200}?)(?: \[(.{1,300}:\d{1,7})\])?:?$/.exec(lines[i + 1] ?? '')
      if (!found) return []
      return [
        {
          name: found[1] ?? '',
          location:
            found[2] ?? nextLocation(lines, i + 1, 20, /^\s+(\S{1,300}_(?:test|spec)\.rb:\d{1,7})/, /^$/),
        },
      ]
    }),
}

const phpunit: Runner = {
  name: 'PHPUnit',
  read: lines =>
    lines.flatMap((line, i): FailedTest[] => {
      const name = /^\d{1,6}\) ([\w\\]{1,300}::.{1,300})$/.exec(line)?.[1]
      return name === undefined
        ? []
        : [{ name, location: nextLocation(lines, i, 40, /^(\S{1,300}\.php:\d{1,7})$/, /^\d{1,6}\) /) }]
    }),
}

const prove: Runner = {
  name: 'prove',
  read: lines =>
    lines.flatMap((line): FailedTest[] => {
      const name = /^(\S{1,300}\.t) {1,20}\(Wstat: /.exec(line)?.[1]
      return name === undefined ? [] : [{ name, location: null }]
    }),
}

export const scriptingRunners: readonly Runner[] = [rspec, minitest, phpunit, prove].map(runner => ({
  ...runner,
  read: lines => once(runner.read(lines)),
}))
