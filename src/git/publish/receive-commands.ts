import { isRefName } from '../../contract/organizations/ref-name.ts'
import { readPacket } from '../process/pkt-line.ts'
import { isSha } from '../refs/ref-name.ts'

export const NO_COMMIT = '0'.repeat(40)

/** One ref that a client updates; `NO_COMMIT` means none. */
export type RefCommand = { from: string; to: string; ref: string }

/** `capabilities`: those that the client selected. `rest`: where the pack begins. */
export type PushRequest = { commands: RefCommand[]; capabilities: Set<string>; rest: number }

/** More than any person pushes at once; each costs a line of a command. */
const MAX_COMMANDS = 500

/** Parses the beginning of a push. `more`: it is incomplete; a text: why it is invalid. */
export function readCommands(bytes: Buffer): PushRequest | 'more' | { problem: string } {
  const commands: RefCommand[] = []
  let capabilities = new Set<string>()
  for (let at = 0; ; ) {
    const read = readPacket(bytes, at)
    if (read === 'more') return 'more'
    at = read?.next ?? at
    if (read?.packet.kind === 'flush') return { commands, capabilities, rest: at }
    if (read?.packet.kind !== 'line') return { problem: 'this is not a push of git' }
    const [line = '', wanted = ''] = read.packet.content.toString('utf8').split('\0', 2)
    // Sent by shallow clones; the connectivity check decides whether everything is there.
    if (/^shallow [0-9a-f]{40}\n?$/.test(line)) continue
    const command = readCommand(line.replace(/\n$/, ''))
    if (command === null) return { problem: 'this is not a push that is taken here' }
    if (commands.length === 0) capabilities = new Set(wanted.trim().split(' '))
    if (commands.length === MAX_COMMANDS)
      return { problem: `at most ${MAX_COMMANDS} branches and tags can be pushed at once` }
    commands.push(command)
  }
}

function readCommand(line: string): RefCommand | null {
  const [from = '', to = '', ...name] = line.split(' ')
  return isSha(from) && isSha(to) ? { from, to, ref: name.join(' ') } : null
}

/** Returns why a ref cannot be pushed, in a few words that git displays; null when it can. */
export function refusedRef({ ref }: RefCommand, commands: RefCommand[]): string | null {
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/s.exec(ref) ?? []
  if (kind === undefined) return 'only branches and tags can be pushed'
  if (!isRefName(name)) return 'this is not a name of a branch or tag'
  return commands.filter(other => other.ref === ref).length > 1 ? 'named twice' : null
}
