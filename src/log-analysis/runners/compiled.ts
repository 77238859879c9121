import type { FailedTest } from '../finding.ts'
import { nextLocation, once, type Runner } from './runner.ts'

/** Returns the prefixes before each slash of a name: the parent tests. */
const foldersOf = (name: string): string[] =>
  name.split('').flatMap((char, at) => (char === '/' ? [name.slice(0, at)] : []))

const goTest: Runner = {
  name: 'go test',
  read(lines) {
    const tests: FailedTest[] = []
    let last_location: string | null = null
    for (const [i, line] of lines.entries()) {
      if (/^\s*=== (?:RUN|CONT|NAME)/.test(line)) last_location = null
      last_location = /^\s+(\S{1,200}_test\.go:\d{1,7}): /.exec(line)?.[1] ?? last_location
      const name = /^\s*--- FAIL: (\S{1,300})/.exec(line)?.[1]
      if (name === undefined) continue
      const below = nextLocation(
        lines,
        i,
        6,
        /^\s+(\S{1,200}\.go:\d{1,7}): /,
        /^\s*(?:--- |===|FAIL|PASS|ok )/,
      )
      tests.push({ name, location: below ?? last_location })
      last_location = null
    }
    // A parent test fails because of its subtests.
    const others = new Set(tests.flatMap(({ name }) => foldersOf(name)))
    return tests.filter(({ name }) => !others.has(name))
  },
}

const cargoTest: Runner = {
  name: 'cargo test',
  read(lines) {
    const at = new Map(
      lines.flatMap(line => {
        const found =
          /^thread '([^']{1,300})'(?: \(\d{1,10}\))? panicked at (?:'.{0,500}', )?(\S{1,300}:\d{1,7}:\d{1,6}):?$/.exec(
            line,
          )
        return found ? [[found[1] ?? '', found[2] ?? ''] as const] : []
      }),
    )
    return lines.flatMap((line): FailedTest[] => {
      const name = /^test (\S{1,300}(?: - .{1,200})?) \.\.\. FAILED$/.exec(line)?.[1]
      if (name !== undefined) return [{ name, location: at.get(name) ?? null }]
      const nextest = /^\s+FAIL \[[\s\d.]{1,12}s\] (?:\(.{1,20}\) )?(\S{1,200} \S{1,300})$/.exec(line)?.[1]
      return nextest === undefined ? [] : [{ name: nextest, location: null }]
    })
  },
}

const surefire: Runner = {
  name: 'surefire',
  read(lines) {
    if (!lines.some(line => /^\[(?:ERROR|INFO)\] /.test(line))) return []
    const locations = lines.flatMap(line => {
      const found =
        /^\[ERROR\] {1,4}(?:Run \d{1,3}: )?([\w$]{1,200}(?:Test|Tests|IT|TestCase|Spec)?[\w$]{0,60})(?:>[\w$.]{1,200})?\.([\w$]{1,200}):(\d{1,7}) /.exec(
          line,
        )
      return found
        ? [{ key: `${found[1]}.${found[2]}`, location: `${found[1]}.${found[2]}:${found[3]}` }]
        : []
    })
    // The first of several with one name counts.
    const at = new Map(locations.toReversed().map(({ key, location }) => [key, location]))
    const failed = lines.flatMap((line): FailedTest[] => {
      const found =
        /^\[ERROR\] ([\w$.]{1,300}\.[\w$]{1,200})(?:\(.{0,60}\))?(?:\[\d{1,6}\])? {1,3}(?:--|–)? ?Time elapsed: .{1,40}<<< (?:FAILURE|ERROR)!/.exec(
          line,
        ) ??
        /^\[ERROR\] ([\w$]{1,200})\(([\w$.]{1,300})\) {1,3}Time elapsed: .{1,40}<<< (?:FAILURE|ERROR)!/.exec(
          line,
        )
      if (!found) return []
      const name = found[2] === undefined ? (found[1] ?? '') : `${found[2]}.${found[1]}`
      const short = name.split('.').slice(-2).join('.')
      return [{ name, location: at.get(short) ?? null }]
    })
    return failed.length > 0 ? failed : locations.map(({ key, location }) => ({ name: key, location }))
  },
}

const gradle: Runner = {
  name: 'gradle',
  read: lines =>
    lines.flatMap((line, i): FailedTest[] => {
      const name = /^([\w.$ ]{1,200} > .{1,300}) FAILED$/.exec(line)?.[1]
      return name === undefined
        ? []
        : [
            {
              name,
              location: nextLocation(
                lines,
                i,
                12,
                / at (\w{1,200}\.(?:java|kt|groovy|scala):\d{1,7})/,
                /FAILED$|PASSED$/,
              ),
            },
          ]
    }),
}

const ctest: Runner = {
  name: 'ctest',
  read(lines) {
    const from = lines.findIndex(line => /^The following tests FAILED:$/.test(line))
    if (from < 0) return []
    return lines.slice(from + 1).flatMap((line): FailedTest[] => {
      const found =
        /^\s+\d{1,6} - (.{1,300}?) \((?:Failed|Timeout|SEGFAULT|Not Run|Subprocess .{1,40}|.{1,40})\)/.exec(
          line,
        )
      return found ? [{ name: found[1] ?? '', location: null }] : []
    })
  },
}

const googletest: Runner = {
  name: 'GoogleTest',
  read(lines) {
    const tests: FailedTest[] = []
    let at: string | null = null
    for (const line of lines) {
      if (/^\[ RUN {6}\]/.test(line)) at = null
      at ??= /^(\S{1,300}:\d{1,7}): Failure$/.exec(line)?.[1] ?? null
      const name = /^\[ {2}FAILED {2}\] ([\w/]{1,200}\.[\w/]{1,200})/.exec(line)?.[1]
      if (name !== undefined) {
        tests.push({ name, location: at })
        at = null
      }
    }
    return tests
  },
}

const automake: Runner = {
  name: 'automake',
  read: lines =>
    lines.some(line => /^Testsuite summary for |^# TOTAL:/.test(line))
      ? lines.flatMap((line): FailedTest[] => {
          const name = /^(?:FAIL|ERROR|XPASS): (\S{1,300}(?: \d{1,6})?)$/.exec(line)?.[1]
          return name === undefined ? [] : [{ name, location: null }]
        })
      : [],
}

const dotnet: Runner = {
  name: '.NET',
  read: lines =>
    lines.flatMap((line, i): FailedTest[] => {
      const name = /^\s{2}Failed (\S.{0,300}?) \[[\d< .mshin]{1,20}\]$/.exec(line)?.[1]
      return name === undefined
        ? []
        : [
            {
              name,
              location: nextLocation(
                lines,
                i,
                20,
                / in (\S{1,300}):line \d{1,7}$/,
                /^\s{2}(?:Failed|Passed) /,
              ),
            },
          ]
    }),
}

export const compiledRunners: readonly Runner[] = [
  goTest,
  cargoTest,
  surefire,
  gradle,
  ctest,
  googletest,
  automake,
  dotnet,
].map(runner => ({
  ...runner,
  read: lines => once(runner.read(lines)),
}))
