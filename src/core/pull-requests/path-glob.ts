/** Whether a glob names a path, given as the result of `namesOf`. */
export type PathGlob = (names: string[]) => boolean

/**
 * Returns the folders and the name of a path, in the form in which some file system may find them: without
 * case, characters that are not seen, and dots and blanks at the end.
 */
export const namesOf = (path: string): string[] => path.split('/').map(nameOf)

function nameOf(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/(?<![. ])[. ]+$/, '')
}

/**
 * Reads a glob. `*` and `?` stop at `/`, `**` is any folders, and a `/` at the end means everything below. A
 * glob with a `/` inside begins at the root, others apply at any depth. Case is ignored. A file or link with
 * the name of a folder of the glob is named too: through a link `.vscode`, files apply that the commit shows
 * elsewhere.
 */
export function readPathGlob(glob: string): PathGlob {
  const rooted = glob.toLowerCase().replace(/^(?:\.\/|\/)/, '')
  const is_below = rooted.endsWith('/')
  const parts = rooted.split('/').filter(part => part !== '')
  const [only = ''] = parts
  if (parts.length < 2 && rooted.length === glob.length)
    return is_below
      ? names => names.some(name => matchName(only, name))
      : names => matchName(only, names.at(-1) ?? '')
  const folders = parts.slice(0, -1).map((_, n) => parts.slice(0, n + 1))
  const whole = is_below ? [...parts, '**'] : parts
  return names =>
    matchParts(whole, names) || folders.some(folder => folder.at(-1) !== '**' && matchParts(folder, names))
}

/** Only the last `**` is ever extended: an earlier one could match nothing that the last one cannot. */
function matchParts(parts: string[], names: string[]): boolean {
  return matchSequence(parts, names, '**', matchName)
}

/** The same for `*` in a name. */
function matchName(part: string, name: string): boolean {
  return matchSequence(part, name, '*', (wanted, character) => wanted === '?' || wanted === character)
}

/**
 * Matches items against a pattern in which `any` matches any number of them. Only the last `any` is tried
 * again with more items.
 */
function matchSequence(
  pattern: ArrayLike<string>,
  items: ArrayLike<string>,
  any: string,
  matches: (wanted: string, item: string) => boolean,
): boolean {
  let [at, next, star, resume] = [0, 0, -1, 0]
  while (next < items.length) {
    const wanted = pattern[at]
    if (wanted === any) {
      star = at++
      resume = next
    } else if (wanted !== undefined && matches(wanted, items[next] ?? '')) {
      at++
      next++
    } else if (star >= 0) {
      at = star + 1
      next = ++resume
    } else return false
  }
  while (pattern[at] === any) at++
  return at === pattern.length
}
