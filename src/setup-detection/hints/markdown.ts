import { commandsOf } from '../shell-lines.ts'
import { kindOf } from './kind-of-command.ts'

const SETUP =
  /set.?up|install|getting started|bootstrap|environment|prerequisite|prepar|dependenc|from source|quick ?start/i
const ABOUT_WORK = /set.?up|build|compil|test|develop|contribut|from source|hacking|check|command|local/i
/** Characters of a heading; every command below it is matched against it. */
const MAX_HEADING_CHARS = 200
const SHELLS = /^(?:sh|bash|shell|console|zsh|shell-session|terminal|)$/i
/** A placeholder. */
const EXAMPLE = /path\/to|<(?!\()|\.\.\.|\[|\bfoo\b|\bmy[-_]/

/**
 * Returns the commands in code blocks, and for agents also those in the text. Documents for people cover more
 * than development: there only chapters about that count.
 */
export function markdownHints(text: string, to: 'agents' | 'people'): { command: string; setup: boolean }[] {
  const found: { command: string; setup: boolean }[] = []
  let heading = ''
  let block: { lines: string[]; fence: string; shell: boolean } | null = null
  const take = (command: string) => {
    if (!EXAMPLE.test(command)) found.push({ command, setup: SETUP.test(heading) && to === 'agents' })
  }
  for (const line of text.replaceAll('\r', '').split('\n')) {
    const fence = /^\s{0,3}(`{3,}|~{3,})\s*([\w-]*)/.exec(line)
    if (block !== null) {
      if (fence?.[1]?.startsWith(block.fence) && fence[2] === '') {
        if (block.shell && (to === 'agents' || ABOUT_WORK.test(heading)))
          for (const command of commandsIn(block.lines)) take(command)
        block = null
      } else block.lines.push(line)
      continue
    }
    if (fence !== null) block = { lines: [], fence: fence[1] ?? '```', shell: SHELLS.test(fence[2] ?? '') }
    else if (/^#{1,6}\s/.test(line)) heading = line.slice(0, MAX_HEADING_CHARS)
    else if (to === 'agents')
      for (const [, code] of line.matchAll(/`([^`]{3,300})`/g))
        if (code !== undefined && isCommand(code)) take(code.trim())
  }
  return found
}

/** In a console transcript, output is not a command. */
function commandsIn(lines: string[]): string[] {
  const prompts = lines.filter(line => /^\s*\$ /.test(line))
  return commandsOf((prompts.length > 0 ? prompts : lines).join('\n'))
}

/** In running text a name in code is not a command, unless it is a known one. */
const isCommand = (code: string) =>
  ['install', 'build', 'test'].includes(kindOf(code.trim().replace(/^cd \S+ && /, '')).kind) &&
  /\s|^(?:pytest|rspec|make|rake|mvn)$/.test(code.trim())
