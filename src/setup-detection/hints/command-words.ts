/**
 * Properties of a command that a single regular expression could only find by backtracking. Each function
 * scans the command once, so that a hostile command costs no more than any other.
 */

const SHELLS = /\b(?:(?:ba|z|da|k)?sh|python3?|node|perl|ruby)\b/
/** Words before the program that a pipe leads to. */
const BEFORE_PROGRAM = /^(?:\w+=|sudo$|env$|-.)/
/** Where a line begins to execute its input. */
const RUNS = /(?:\b(?:ba|z|da|k)?sh|\beval|\bsource|(?:^|[&;|(]\s?)\.)\s/
const BEGINS_RM = /(?:^|[&;|(])rm$/
const FOREIGN_FILES = /^["']?(?:\/|~|\$\{?HOME\b|\.{1,2}\/?["']?$|\*)/

/** Returns the command with single blanks between words, and without blank lines. */
export const withSingleBlanks = (command: string): string =>
  command
    .split(/[\n\r\u2028\u2029]/)
    .map(line => line.split(/\s/).filter(Boolean).join(' '))
    .filter(Boolean)
    .join('\n')

export const wordsOf = (command: string): string[] => command.split(/\s/).filter(Boolean)

/** Returns whether it passes a download to a program that executes it. `command`: with single blanks. */
export function runsDownloads(command: string): boolean {
  const lines = command.replace(/([(`|])\n/g, '$1 ').split('\n')
  return lines.some(line => pipesDownload(line) || substitutesDownload(line))
}

function pipesDownload(line: string): boolean {
  const from = line.search(/\b(?:curl|wget)\b/)
  if (from < 0) return false
  const [, ...programs] = line.slice(from).split('|')
  return programs.some(program => {
    const words = wordsOf(program)
    const last = words.findIndex(word => !BEFORE_PROGRAM.test(word))
    return words.slice(0, last < 0 ? words.length : last + 1).some(word => SHELLS.test(word))
  })
}

function substitutesDownload(line: string): boolean {
  const from = line.search(RUNS)
  return from >= 0 && /(?:<\(|\$\(|`)\s?(?:curl|wget)\b/.test(line.slice(from))
}

/** Returns whether it deletes the home folder, the whole repository, or files outside of both. */
export function deletesForeignFiles(words: readonly string[]): boolean {
  let deletes = false
  for (const [i, word] of words.entries()) {
    if (deletes && FOREIGN_FILES.test(word)) return true
    deletes =
      (deletes && /^-./.test(word)) ||
      BEGINS_RM.test(i === 0 || word !== 'rm' ? word : `${words[i - 1]?.at(-1)}rm`)
  }
  return false
}

/**
 * Returns the possible first goals of `make`. An option such as `-j` may have a value or not, so the word
 * after it counts as either.
 */
export function makeGoals(words: readonly string[]): string[] {
  if (words[0] !== 'make') return []
  const open = new Set([1])
  return words.filter((word, i) => {
    if (!open.has(i)) return false
    if (/^-[CfIj]$/.test(word)) open.add(i + 2)
    if (/^(?:-|\w+=)./.test(word)) open.add(i + 1)
    return true
  })
}
