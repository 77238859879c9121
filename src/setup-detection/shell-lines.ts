/** Constructs that continue on the next line: quotes, brackets, blocks of the shell. */
const BLOCK =
  /^[ \t]*(?:if|for|while|until|case|function|select)\b|^[ \t]*[\w-]+[ \t]*\(\)|<<-?[ \t]*['"]?\w|^[ \t]*\{/m
/** State of a shell that the next line depends on. */
const STATEFUL = /^(?:cd|pushd|export|source|\.|set|unset|shopt|alias)\s/

/**
 * Splits a script into commands. A block, or a line with an open construct, stays whole; lines that depend on
 * shell state become one command in a subshell, because each setup command runs in a new shell.
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

/**
 * Returns the parts of a command that run one after the other, so that the failing one can be located; the
 * command itself when it has none.
 */
export function partsOf(command: string): string[] {
  const inner = /^\(([^()]*)\)$/.exec(command.trim())?.[1] ?? command
  if (BLOCK.test(inner)) return [command]
  const parts = inner.split('\n').flatMap(line => {
    const { cuts, open, alternatives } = scan(line)
    if (open || alternatives) return [line]
    return [...cuts, line.length].map((cut, i) =>
      line.slice(i === 0 ? 0 : (cuts[i - 1] ?? 0), cut).replace(/^(?:&&|;)/, ''),
    )
  })
  const found = parts.map(part => part.trim()).filter(part => part !== '' && !part.startsWith('#'))
  return found.length > 1 ? found : [command]
}

/** Returns the positions of `&&` and `;` outside of quotes and brackets. */
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

/**
 * Joins lines that end with a backslash. Line by line, because a pattern would rescan the blanks before it.
 */
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

const withoutComment = (line: string) =>
  /["'`]/.test(line) ? line : line.replace(/(?<=\s)#\s[\s\S]*$/, '').trimEnd()

/** Returns whether a shell leaves the word unchanged. */
export const isPlainWord = (word: string) => /^[\w@%+=:,./-]{1,200}$/.test(word) && !word.startsWith('-')
