import { readFileSync } from 'node:fs'
import { shellQuote as quote } from '../../core/text/shell-quote.ts'
import { isSha } from '../refs/ref-name.ts'
import { type CheckpointFolders, environment } from './checkpoint-commands.ts'

const PROGRAM = ['protocol', 'ignored', 'listing', 'list']
  .map(name => readFileSync(new URL(`./inside/changes/${name}.pl`, import.meta.url), 'utf8'))
  .join('')

/**
 * Returns the command of a program that lists what has changed in a workspace
 * (decisions.md#snapshots-from-the-changed-paths). `changes`: what the layer of the workspace stores, or the
 * workspace itself. It ends at once where there is no Perl. A request is LIST_REQUEST.
 */
export function listChangesCommand(folders: CheckpointFolders, changes: string): string {
  const args = [PROGRAM, folders.files, changes].map(quote)
  return `${environment(folders)}\nexec perl -e ${args.join(' ')}`
}

export const LIST_REQUEST = 'list\n'

/** The first line of a response may not be longer than this. */
const MAX_LINE_BYTES = 8_192

/** What has changed at a path, whose bytes are Latin-1 here. */
export type Change =
  | { kind: 'folder'; path: string; names: Set<string> }
  | { kind: 'file'; path: string; mode: '100644' | '100755' | '120000'; content: Buffer }
  /** `special`: a pipe, a socket or a device. `ignored folder`: whether it has changed or not. */
  | { kind: 'special' | 'ignored file' | 'ignored folder'; path: string }

/** `reason`: why git has to examine all files. `head`: the commit of the workspace, if any. */
export type ListedChanges =
  | { changes: Change[]; head: string | null; branch: string | null }
  | { reason: string }

/**
 * Reads a response. `needed`: how many bytes it has at least, if more than there are. What the program does
 * not write counts as a reason.
 */
export function parseResponse(bytes: Buffer): { listed: ListedChanges } | { needed: number } {
  const end = bytes.indexOf(10)
  if (end < 0 && bytes.length <= MAX_LINE_BYTES) return { needed: bytes.length + 1 }
  const line = bytes.toString('utf8', 0, Math.max(0, end))
  const [, size = '', head = '', branch = ''] =
    /^changes (\d{1,7}) ([0-9a-f]{40}|none) ([^\n]*)$/.exec(line) ?? []
  if (size === '') return { listed: { reason: reasonIn(line) } }
  const needed = end + 1 + Number(size)
  if (bytes.length < needed) return { needed }
  const changes = bytes.length === needed ? parseChanges(bytes.subarray(end + 1)) : null
  if (changes === null) return { listed: { reason: UNKNOWN } }
  const listed = { changes, head: isSha(head) ? head : null, branch: branch === '' ? null : branch }
  return { listed }
}

/** What follows cannot be read either. */
export const UNKNOWN = 'an unknown response'
const reasonIn = (line: string) => (line.startsWith('git ') ? line.slice(4) : UNKNOWN)

const kinds = { S: 'special', I: 'ignored file', D: 'ignored folder' } as const

/** Null: it is not what the program writes. */
function parseChanges(bytes: Buffer): Change[] | null {
  const changes: Change[] = []
  let at = 0
  const text = (): string => {
    const end = bytes.indexOf(0, at)
    if (end < 0) throw new RangeError('a text without its end')
    const found = bytes.toString('latin1', at, end)
    at = end + 1
    return found
  }
  try {
    while (at < bytes.length) {
      const field = text()
      const [kind, path] = [field.charAt(0), field.slice(1)]
      if (kind === 'F') {
        const names = new Set<string>()
        for (let name = text(); name !== ''; name = text()) names.add(name)
        changes.push({ kind: 'folder', path, names })
      } else if (kind === 'E') {
        const [, mode, size] = /^(100644|100755|120000) (\d{1,7})$/.exec(text()) ?? []
        const content = Buffer.from(bytes.subarray(at, at + Number(size)))
        if (content.length !== Number(size)) return null
        at += content.length
        changes.push({ kind: 'file', path, mode: mode as '100644', content })
      } else if (kind === 'S' || kind === 'I' || kind === 'D') {
        changes.push({ kind: kinds[kind], path })
      } else return null
    }
    return changes
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
