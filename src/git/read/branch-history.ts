import { randomUUID } from 'node:crypto'
import { readMirror } from '../mirrors/mirror-refs.ts'
import type { Objects } from '../objects/objects.ts'
import type { GitHost } from '../process/git-host.ts'
import { shownPath, shownText } from '../process/shown-text.ts'
import { asSha } from '../refs/ref-name.ts'
import { fields } from './changes.ts'
import type { Commit } from './commits.ts'

const MAX_BYTES = 64 * 1024 ** 2

/**
 * Text that a commit adds: a file's added lines, or its author and message where `path` is null. One
 * character per byte.
 */
type AddedText = { path: string | null; text: string }

/**
 * What commits add, each on its own: including lines that a later one removes. Binary files count as text.
 * `added`: of the first 64 MiB. `commits`: as of `listCommits`, with all commits; null where the output does
 * not have all that it needs.
 */
export type BranchHistory = { added: AddedText[]; commits: Commit[] | null }

/**
 * Reads the commits from `base_sha` to `head_sha`, with one process. GitError `corrupt`, `timeout`, `failed`.
 */
export async function readHistory(
  host: GitHost,
  objects: Objects,
  base_sha: string,
  head_sha: string,
): Promise<BranchHistory> {
  const mark = randomUUID()
  const output = await readMirror(host, objects, 'the commits cannot be read', {
    args: [
      ...['log', '-z', '--topo-order', '--encoding=UTF-8', '--no-show-signature', '--no-color'],
      ...['--raw', '--patch', '--unified=0', '-m', '--text', '--no-renames'],
      ...['--no-ext-diff', '--no-textconv', '--ignore-submodules=none'],
      `--format=${mark}%H%x00%P%x00%B%x00%an <%ae>%n%cn <%ce>%n${mark}`,
      ...[`${asSha(base_sha)}..${asSha(head_sha)}`, '--'],
    ],
    max_output_bytes: MAX_BYTES,
    on_overflow: 'cut',
  })
  const parts = splitAt(output, mark)
  const commits = output.length >= MAX_BYTES ? null : commitsIn(parts)
  const added = parts.flatMap(({ head, change }) => {
    const [, , message = '', people = ''] = fields(head).map(field => field.toString('latin1'))
    return [
      { path: null, text: `${people}${message}` },
      ...filesOf(change.toString('latin1', rawOf(change).end)),
    ]
  })
  return { added, commits }
}

/** `head`: the format; `change`: what the commit changes against one of its parents. */
type Part = { head: Buffer; change: Buffer }

/** The mark is random, so no content can imitate it. */
function splitAt(output: Buffer, mark: string): Part[] {
  const parts: Part[] = []
  let from = output.indexOf(mark)
  while (from >= 0) {
    const start = from + mark.length
    const end = output.indexOf(mark, start)
    if (end < 0) break
    from = output.indexOf(mark, end + mark.length)
    const change = output.subarray(end + mark.length, from < 0 ? output.length : from)
    parts.push({ head: output.subarray(start, end), change })
  }
  return parts
}

/**
 * A merge has a part for each parent, the first one first; but none for a parent against which it changes
 * nothing. Null: it is not certain which parent a part is about.
 */
function commitsIn(parts: readonly Part[]): Commit[] | null {
  const commits: Commit[] = []
  const missing = new Map<string, number>()
  for (const { head, change } of parts) {
    const [sha = '', parents = '', message] = fields(head).map(field => shownText(field))
    if (missing.has(sha)) {
      missing.set(sha, (missing.get(sha) ?? 0) - 1)
      continue
    }
    missing.set(sha, Math.max(1, parents.split(' ').length) - 1)
    commits.push({ sha, message: (message ?? '').trimEnd(), files: rawOf(change).paths })
  }
  return [...missing.values()].every(count => count === 0) ? commits.reverse() : null
}

/**
 * The changed paths of `--raw -z`, each behind a field that starts with a colon, and the byte behind them. A
 * NUL separates the patch, which is as without -z.
 */
function rawOf(change: Buffer): { paths: string[]; end: number } {
  const paths: string[] = []
  const fieldEnd = (from: number) => {
    const end = change.indexOf(0, from)
    return end < 0 ? change.length : end
  }
  // A commit ends with a NUL, and its change begins with a line feed.
  let at = change[0] === 0 ? 1 : 0
  if (change[at] === 10) at++
  while (change[at] === 58) {
    const path = fieldEnd(at) + 1
    const end = fieldEnd(path)
    paths.push(shownPath(change.subarray(path, end)))
    at = end + 1
  }
  return { paths, end: Math.min(at, change.length) }
}

/**
 * Only a line feed ends a line of a patch, and only headers begin with none of "+- ": no content of a file
 * can be mistaken for a header.
 */
function filesOf(patch: string): AddedText[] {
  return `\n${patch.replace(/^\0/, '')}`
    .split('\ndiff --git ')
    .slice(1)
    .map(file => {
      const [head = '', ...hunks] = file.split('\n@@ ')
      const path = /\n\+\+\+ (?:b\/)?([^\n]*?)\t?$/.exec(head)?.[1] ?? head.split('\n')[0] ?? ''
      const lines = hunks.flatMap(hunk => hunk.split('\n').filter(line => line.startsWith('+')))
      return {
        path: Buffer.from(path, 'latin1').toString('utf8'),
        text: lines.map(line => line.slice(1)).join('\n'),
      }
    })
}
