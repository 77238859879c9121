/** What a line leaves open: quotes, brackets, a block of the shell. */
const BLOCK = /^[ \t]*(?:if|for|while|until|case|function|select)\b|^[ \t]*[\w-]+[ \t]*\(\)|<<-?[ \t]*['"]?\w|^[ \t]*\{/m
/** What the next line of a shell would still know, and what nobody after it does. */
const STATEFUL = /^(?:cd|pushd|export|source|\.|set|unset|shopt|alias)\s/

/**
 * The commands of a script, one each. What is a block, or leaves something open at the end of a line, stays whole; lines that depend on what
 * the shell remembers become one command in a shell of its own, because nothing comes after the setup in the same shell.
 */
export function commandsOf(script: string): string[] {
  const joined = withoutContinuations(script.replaceAll('\r', ''))
  const lines = joined
    .split('\n')
    .map(line => line.trim().replace(/^\$ /, ''))
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(withoutComment)
  if (lines.length === 0) return []
  if (BLOCK.test(joined) || lines.some(line => scan(line).open)) return [joined.trim()]
  if (!lines.some(line => STATEFUL.test(line))) return lines
  const useful = lines.filter(line => !/^set\s+[-+]/.test(line))
  return useful.length === 0 ? [] : [`(${useful.join(' && ')})`]
}

/** The parts of a command that run one after the other, so that the one that fails can be found; itself where it has none. */
export function partsOf(command: string): string[] {
  const inner = /^\(([^()]*)\)$/.exec(command.trim())?.[1] ?? command
  if (BLOCK.test(inner)) return [command]
  const parts = inner.split('\n').flatMap(line => {
    const { cuts, open, alternatives } = scan(line)
    if (open || alternatives) return [line]
    return [...cuts, line.length].map((cut, i) => line.slice(i === 0 ? 0 : (cuts[i - 1] ?? 0), cut).replace(/^(?:&&|;)/, ''))
  })
  const found = parts.map(part => part.trim()).filter(part => part !== '' && !part.startsWith('#'))
  return found.length > 1 ? found : [command]
}

/** Where a line is cut at `&&` and `;` outside of quotes and brackets. */
function scan(line: string): { cuts: number[]; open: boolean; alternatives: boolean } {
  const cuts: number[] = []
  let quote: string | null = null
  let depth = 0
  let alternatives = false
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? ''
    if (char === '\\' && quote !== "'") at++
    else if (quote !== null) quote = char === quote ? null : quote
    else if (char === '"' || char === "'" || char === '`') quote = char
    else if (char === '(' || char === '{') depth++
    else if (char === ')' || char === '}') depth--
    else if (depth === 0 && line.startsWith('||', at)) alternatives = true
    else if (depth === 0 && (line.startsWith('&&', at) || char === ';')) {
      cuts.push(at)
      if (char === '&') at++
    }
  }
  return { cuts, open: quote !== null || depth !== 0, alternatives }
}

/** A line that ends with a backslash goes on in the next one. Line by line: a pattern would go over the blanks before it again from each. */
export function withoutContinuations(script: string): string {
  const joined: string[] = []
  let open = false
  const lines = script.split('\n')
  for (const [i, line] of lines.entries()) {
    const goes_on = line.endsWith('\\') && i < lines.length - 1
    const text = goes_on ? line.slice(0, -1).trimEnd() : line
    if (open) joined.push(`${joined.pop()} ${text.trimStart()}`)
    else joined.push(text)
    open = goes_on
  }
  return joined.join('\n')
}

const withoutComment = (line: string) => (/["'`]/.test(line) ? line : line.replace(/(?<=\s)#\s.*$/, '').trimEnd())

/** A word of a command that a shell leaves as it is. */
export const isPlainWord = (word: string) => /^[\w@%+=:,./-]{1,200}$/.test(word) && !word.startsWith('-')
