import type { Finding } from './finding.ts'

const CHARACTERS = 300

/** Removes what differs between runs with the same failure: times, ids, addresses, numbers and folders. */
function normalized(text: string): string {
  return text
    .slice(0, 1_000)
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>')
    .replace(/\b(?:0x[0-9a-f]{1,16}|[0-9a-f]{7,64}(?=\b))/gi, hex => (/\d/.test(hex) ? '<hex>' : hex))
    .replace(/(?:\/[\w.@+-]{1,100}){2,30}\/?/g, path => `…/${path.replace(/\/$/, '').split('/').at(-1)}`)
    .replace(/\d+(?:\.\d+)?/g, '<n>')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, CHARACTERS)
}

/** Returns a digest that is equal for the same failure in another run. */
export function failureSignature({ code, message, excerpt, tests, command }: Finding): string {
  if (code === 'failing_tests')
    return `${code} ${tests
      .map(({ name }) => normalized(name))
      .toSorted()
      .slice(0, 10)
      .join(' | ')}`
  const about =
    code === 'command_failed'
      ? normalized(`${command} ${excerpt?.split('\n').at(-1) ?? ''}`)
      : normalized(message)
  return `${code} ${about}`
}
