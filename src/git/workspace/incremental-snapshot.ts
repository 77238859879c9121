import { readFileSync } from 'node:fs'
import { shellQuote as quote } from '../../core/text/shell-quote.ts'
import { isSha } from '../refs/ref-name.ts'
import { type CheckpointFolders, environment, type PackInput, type Snapshot } from './checkpoint-commands.ts'

const PARTS = ['objects', 'trees', 'ignored', 'listing', 'packs', 'snapshot']
const PROGRAM = PARTS.map(name =>
  readFileSync(new URL(`./inside/incremental/${name}.pl`, import.meta.url), 'utf8'),
).join('')

/**
 * Returns the command of a program that takes snapshots from the paths that have changed
 * (decisions.md#snapshots-from-the-changed-paths). `changes`: what the layer of the workspace stores, or the
 * workspace itself. It ends at once where there is no Perl.
 */
export function incrementalCommand(folders: CheckpointFolders, changes: string): string {
  const { files, shadow, max_file_bytes } = folders
  const args = [PROGRAM, files, changes, shadow, String(max_file_bytes)].map(quote)
  return `${environment(folders)}\nexec perl -e ${args.join(' ')}`
}

/**
 * Returns a request of the program. `before`: a snapshot of a later moment than that of the last request. A
 * head `any` may have changed since.
 */
export const takeRequest = ({ tree, head }: Pick<Snapshot, 'tree' | 'head'>): string =>
  `take ${tree} ${head ?? 'none'}\n`

/** Returns a request for the pack that `packCommand` would write. */
export const packRequest = ({ tree, parents, also, without }: PackInput): string =>
  `pack ${tree} ${parents} ${also} ${without}\n`

/** What the program prints, line by line. `git`: git must do it, and why; `bytes` of a pack follow. */
type IncrementalResponse =
  | 'captured'
  | { tree: string; branch: string | null }
  | { tip: string; bytes: number }
  | { git: string }

export function parseResponse(line: string): IncrementalResponse {
  if (line === 'captured') return line
  const [, tip = '', bytes = ''] = /^pack ([0-9a-f]{40}) (\d{1,9})$/.exec(line) ?? []
  if (isSha(tip)) return { tip, bytes: Number(bytes) }
  const [, tree = '', branch = ''] = /^tree ([0-9a-f]{40}) (.*)$/.exec(line) ?? []
  return isSha(tree)
    ? { tree, branch: branch === '' ? null : branch }
    : { git: line.startsWith('git ') ? line.slice(4) : 'an unknown response' }
}
