const LONGEST = 80

/** Returns the default title of a run: the first line of the prompt with text, cut at a word. */
export function titleOf(prompt: string): string {
  const line = prompt
    .split(/\r?\n/)
    .map(text =>
      text
        .replace(/^[#>*\s-]+/, '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .find(text => text.length > 0 && !/^(```|~~~)/.test(text))
  if (line === undefined) return 'Agent run'
  if (line.length <= LONGEST) return line.toWellFormed()
  const cut = line.slice(0, LONGEST)
  const space = cut.lastIndexOf(' ')
  return `${(space > LONGEST / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`
}
