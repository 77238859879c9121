import type { FailedTest } from '../finding.ts'
import { nextLocation, once, type Runner, toLocation } from './runner.ts'

const AT = /^\s*(?:at |❯ )(?:.{0,200}?[ (])?((?:file:\/\/)?[^\s()]{1,300}:\d{1,7}:\d{1,6})\)?$/

const jest: Runner = {
  name: 'jest',
  read(lines) {
    if (!lines.some(line => /^\s*(?:FAIL|PASS) {1,2}\S|^Tests: {2,}\d/.test(line))) return []
    return lines.flatMap((line, i): FailedTest[] => {
      const name = /^ {2}● (.{1,400})$/.exec(line)?.[1]
      if (name === undefined || /^(?:Console|Test suite failed to run|Deprecation)/.test(name)) return []
      return [{ name, location: nextLocation(lines, i, 80, AT, /^ {2}● /) }]
    })
  },
}

/** Suites of jest and vitest that could not be loaded. */
const suites: Runner = {
  name: 'jest suite',
  read: lines =>
    lines.some(line => /● Test suite failed to run/.test(line))
      ? lines.flatMap(line => {
          const name = /^\s*FAIL {1,2}(\S{1,300}\.[cm]?[jt]sx?)\b/.exec(line)?.[1]
          return name === undefined ? [] : [{ name, location: null }]
        })
      : [],
}

const vitest: Runner = {
  name: 'vitest',
  read: lines =>
    lines.flatMap((line, i): FailedTest[] => {
      const found =
        /^\s*FAIL {1,2}(?:\|[^|]{1,60}\| )?(\S{1,300}\.[cm]?[jt]sx?(?: > .{1,400}| \[ .{1,300} \]))$/.exec(
          line,
        )
      if (!found) return []
      return [
        {
          name: (found[1] ?? '').replace(/ \[ .{0,400} \]$/, ''),
          location: nextLocation(lines, i, 60, AT, /^\s*FAIL {1,2}\S/),
        },
      ]
    }),
}

const mocha: Runner = {
  name: 'mocha',
  read(lines) {
    const from = lines.findIndex(line => /^\s+\d{1,6} failing$/.test(line))
    if (from < 0) return []
    const tests: FailedTest[] = []
    for (let i = from + 1; i < lines.length; i++) {
      const first = /^\s+\d{1,6}\) (.{1,300})$/.exec(lines[i] ?? '')?.[1]
      if (first === undefined) continue
      const names = [first]
      let last = i
      // The names of the suites are above the test's, which ends with a colon.
      while (!names.at(-1)?.endsWith(':') && last - i < 8 && /^\s{4,}\S/.test(lines[last + 1] ?? ''))
        names.push((lines[++last] ?? '').trim())
      const location = nextLocation(lines, last, 40, AT, /^\s+\d{1,6}\) /)
      tests.push({ name: names.join(' ').replace(/:$/, ''), location })
      i = last
    }
    return tests
  },
}

const tap: Runner = {
  name: 'TAP',
  read: lines =>
    lines.flatMap((line, i): FailedTest[] => {
      const found = /^\s*not ok \d{1,7}(?: -)? (.{1,400})$/.exec(line)
      const name = found?.[1]?.replace(/ # (?:time|duration)\b.{0,400}$/, '')
      if (name === undefined || / # (?:TODO|SKIP)\b/i.test(name)) return []
      const below = lines.slice(i + 1, i + 12)
      const end = below.findIndex(one => /^\s*(?:not )?ok \d/.test(one))
      const details = end < 0 ? below : below.slice(0, end)
      // It failed because of the subtests above it.
      if (details.some(one => /failureType: '?subtestsFailed/.test(one))) return []
      const at = details
        .map(one => /^\s*(?:location|at|file): ['"]?([^'"]{1,300}:\d{1,7}(?::\d{1,6})?)/.exec(one)?.[1])
        .find(one => one)
      return [{ name, location: at === undefined ? null : toLocation(at) }]
    }),
}

const nodeTest: Runner = {
  name: 'node:test',
  read(lines) {
    const from = lines.findIndex(line => /^✖ failing tests:$/.test(line))
    if (from < 0) return []
    return lines.flatMap((line, i): FailedTest[] => {
      const location = i > from ? /^test at (.{1,300}:\d{1,7}:\d{1,6})$/.exec(line)?.[1] : undefined
      const name = location && /^✖ (.{1,400}?)(?: \([\d.]{1,12}ms\))?$/.exec(lines[i + 1] ?? '')?.[1]
      return location && name ? [{ name, location }] : []
    })
  },
}

const playwright: Runner = {
  name: 'playwright',
  read: lines =>
    lines.flatMap((line): FailedTest[] => {
      const found = /^\s+\d{1,6}\) (?:\[\w{1,40}\] › )?(\S{1,300}:\d{1,7}:\d{1,6}) › (.{1,300}?)[ ─]*$/.exec(
        line,
      )
      return found ? [{ name: found[2] ?? '', location: found[1] ?? null }] : []
    }),
}

const bun: Runner = {
  name: 'bun',
  read: lines =>
    lines.flatMap((line): FailedTest[] => {
      const name =
        /^\(fail\) (.{1,400}?)(?: \[[\d.]{1,12}ms\])?$/.exec(line)?.[1] ??
        /^(.{1,300}) \.\.\. (?:FAILED|\u001b?FAILED) \([\dmsµ]{1,12}\)$/.exec(line)?.[1]
      return name === undefined ? [] : [{ name, location: null }]
    }),
}

export const javascriptRunners: readonly Runner[] = [
  jest,
  suites,
  vitest,
  mocha,
  tap,
  nodeTest,
  playwright,
  bun,
].map(runner => ({
  ...runner,
  read: lines => once(runner.read(lines)),
}))
