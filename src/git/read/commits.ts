import { randomUUID } from 'node:crypto'
import { readMirror } from '../mirrors/mirror-refs.ts'
import type { Objects } from '../objects/objects.ts'
import type { GitHost } from '../process/git-host.ts'
import { shownPath, shownText } from '../process/shown-text.ts'
import { asSha } from '../refs/ref-name.ts'
import { fields } from './changes.ts'

/** `files`: paths that the commit changes against its first parent, formatted as in `ChangedFile`. */
export type Commit = { sha: string; message: string; files: string[] }

/**
 * Returns the commits that are in `head_sha` and not in `base_sha`, oldest first; with more than `max` the
 * newest of them. Default 250. GitError `corrupt`, `timeout`, `failed`.
 */
export async function listCommits(
  host: GitHost,
  objects: Objects,
  base_sha: string | null,
  head_sha: string,
  max = 250,
): Promise<Commit[]> {
  const mark = randomUUID()
  const output = await readMirror(host, objects, 'the commits cannot be listed', {
    args: [
      ...[
        'log',
        '-z',
        '--encoding=UTF-8',
        `--format=${mark}%H%x00%B%x00`,
        '--name-only',
        '--no-renames',
        '--no-ext-diff',
        '--no-textconv',
        '--diff-merges=first-parent',
        '--no-show-signature',
      ],
      ...[
        '--topo-order',
        `--max-count=${max}`,
        asSha(head_sha),
        ...(base_sha ? [`^${asSha(base_sha)}`] : []),
        '--',
      ],
    ],
  })
  return parseCommits(output, mark).reverse()
}

/**
 * Parses `git log -z --format=<mark>%H%x00%B%x00 --name-only`; the mark is random, so no path can imitate a
 * commit.
 */
function parseCommits(output: Buffer, mark: string): Commit[] {
  const commits: Commit[] = []
  const parts = fields(output)
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? Buffer.alloc(0)
    const text = part.toString('latin1')
    if (text.startsWith(mark)) {
      commits.push({
        sha: text.slice(mark.length),
        message: shownText(parts[++at] ?? Buffer.alloc(0)).trimEnd(),
        files: [],
      })
      continue
    }
    const path = part[0] === 10 && commits.at(-1)?.files.length === 0 ? part.subarray(1) : part
    if (path.length > 0) commits.at(-1)?.files.push(shownPath(path))
  }
  return commits
}
