/** The beginning of a SKILL.md for a skill that does not exist yet. */
export const template = '---\nname: \ndescription: \n---\n\n'

/**
 * Returns the name in the front matter of a SKILL.md as it is typed, null without one. The service reads it
 * exactly, and checks it.
 */
export function nameIn(content: string): string | null {
  const [first, ...lines] = content.split('\n').map(line => line.trim())
  if (first !== '---') return null
  const end = lines.indexOf('---')
  const line = lines.slice(0, end === -1 ? lines.length : end).find(one => /^name\s*:/.test(one))
  const name = line
    ?.slice(line.indexOf(':') + 1)
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
  return name || null
}
