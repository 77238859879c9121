import type { FailedTest } from '../finding.ts'
import { once, type Runner } from './runner.ts'

const LOCATION = /^(\S{1,300}\.py:\d{1,7}): /

/** Returns the location from each section of pytest's report: the last one, where the test failed. */
function locations(lines: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  let name: string | null = null
  for (const line of lines) {
    const heading = /^_{3,} (?:ERROR (?:at (?:setup|teardown) of|collecting) )?(.{1,300}?) _{3,}$/.exec(
      line,
    )?.[1]
    if (heading !== undefined) name = heading
    else if (/^={3,} /.test(line)) name = null
    const toLocation = name === null ? undefined : LOCATION.exec(line)?.[1]
    if (name !== null && toLocation !== undefined) found.set(name, toLocation)
  }
  return found
}

const pytest: Runner = {
  name: 'pytest',
  read(lines) {
    const at = locations(lines)
    const failed = lines.flatMap((line): FailedTest[] => {
      const id = /^(?:FAILED|ERROR) (\S{1,400}?\.py(?:::.{1,300}?)?)(?: - .{0,1000})?$/.exec(line)?.[1]
      if (id === undefined) return []
      const name = id.split('::').slice(1).join('.')
      return [{ name: id, location: at.get(name) ?? at.get(id) ?? null }]
    })
    if (failed.length > 0) return failed
    return [...at].map(([name, location]) => ({ name, location }))
  },
}

const unittest: Runner = {
  name: 'unittest',
  read: lines =>
    lines.flatMap((line, i): FailedTest[] => {
      const found = /^(?:FAIL|ERROR): (\S{1,200}) \((.{1,300})\)(?: .{0,200})?$/.exec(line)
      if (!found) return []
      const below = lines.slice(i + 1, i + 80)
      const end = below.findIndex(one => /^={10,}$|^Ran \d/.test(one))
      const files = (end < 0 ? below : below.slice(0, end))
        .map(one => /^\s*File "([^"]{1,300})", line (\d{1,7})/.exec(one))
        .filter(one => one !== null)
      const own = files.find(one => one[0].includes('test')) ?? files.at(-1)
      const toLocation = found[2] ?? ''
      const name = toLocation.endsWith(`.${found[1]}`) ? toLocation : `${toLocation}.${found[1]}`
      return [{ name, location: own ? `${own[1]}:${own[2]}` : null }]
    }),
}

export const pythonRunners: readonly Runner[] = [pytest, unittest].map(runner => ({
  ...runner,
  read: lines => once(runner.read(lines)),
}))
