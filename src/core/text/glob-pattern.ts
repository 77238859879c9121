/** Thrown for a glob that cannot be read; the message names the problem. */
export class GlobError extends Error {
  override name = 'GlobError'
}

type GlobReader = { glob: string; at: number; depth: number }

/**
 * Returns the regular expression (PCRE, RE2 and JavaScript) that matches a path relative to the folder that
 * the glob belongs to, as in .gitignore: `*` and `?` stop at `/`, `**` does not, `{a,b}` are alternatives,
 * `[!a]` is none of these, and a glob without `/` matches at any depth. A glob that ends with `/` means
 * everything below. Throws GlobError.
 */
export function globPattern(glob: string): string {
  const rooted = glob.replace(/^(?:\.\/|\/)+/, '')
  const anywhere = glob === rooted && !/\/./.test(rooted)
  const reading = { glob: rooted.endsWith('/') ? `${rooted}**` : rooted, at: 0, depth: 0 }
  let pattern = ''
  while (reading.at < reading.glob.length) pattern += next(reading)
  if (reading.depth > 0) throw new GlobError(`${glob}: a { has no }`)
  return `${anywhere ? '(?:.*/)?' : ''}${pattern}`
}

function next(reading: GlobReader): string {
  const { glob, at } = reading
  const char = glob[at] ?? ''
  if (char === '*') return star(reading)
  if (char === '[') return charClass(reading)
  reading.at++
  if (char === '?') return '[^/]'
  if (char === '{') {
    reading.depth++
    return '(?:'
  }
  if (char === '}' && reading.depth > 0) {
    reading.depth--
    return ')'
  }
  if (char === ',' && reading.depth > 0) return '|'
  if (char === '\\' && at + 1 < glob.length) return literal(glob[reading.at++] ?? '')
  return literal(char)
}

function star(reading: GlobReader): string {
  const { glob, at } = reading
  const stars = /^\*+/.exec(glob.slice(at))?.[0].length ?? 1
  reading.at += stars
  if (stars === 1) return '[^/]*'
  if (glob[reading.at] !== '/') return '.*'
  reading.at++
  return '(?:.*/)?'
}

function charClass(reading: GlobReader): string {
  const { glob, at } = reading
  const [whole, negated = '', members = ''] = /^\[([!^]?)(\]?[^\]]*)\]/.exec(glob.slice(at)) ?? []
  if (whole === undefined || members === '') throw new GlobError(`${glob}: a [ has no ]`)
  reading.at += whole.length
  return `[${negated === '' ? '' : '^'}${members.replace(/[\\[\]^]/g, '\\$&')}]`
}

const literal = (char: string) => char.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
