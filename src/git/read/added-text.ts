import { randomUUID } from 'node:crypto'
import { readMirror } from '../mirrors/mirror-refs.ts'
import type { Objects } from '../objects/objects.ts'
import type { GitHost } from '../process/git-host.ts'
import { asSha } from '../refs/ref-name.ts'

const MAX_BYTES = 64 * 1024 ** 2

/**
 * Text that commits add: a file's added lines, or a commit's own text (with headers) where `path` is null.
 * One character per byte.
 */
type AddedText = { path: string | null; text: string }

/**
 * Returns all text that the commits from `base_sha` to `head_sha` add, each on its own: including lines that
 * a later one removes. Binary files count as text. Limited to the first 64 MiB. GitError `corrupt`,
 * `timeout`, `failed`.
 */
export async function addedText(
  host: GitHost,
  objects: Objects,
  base_sha: string,
  head_sha: string,
): Promise<AddedText[]> {
  const mark = randomUUID()
  const commits = `${asSha(base_sha)}..${asSha(head_sha)}`
  // Raw commits, because headers may be hidden and the encoding may be wrong.
  const raw = await readMirror(host, objects, 'the commits cannot be read', {
    args: ['log', '--format=raw', '--encoding=none', '--no-patch', '--no-color', commits, '--'],
    max_output_bytes: MAX_BYTES,
    on_overflow: 'cut',
  })
  const output = await readMirror(host, objects, 'the commits cannot be read', {
    args: [
      ...[
        'log',
        '--patch',
        '--unified=0',
        '-m',
        '--text',
        '--no-renames',
        '--no-ext-diff',
        '--no-textconv',
        '--no-color',
      ],
      ...[`--format=${mark}%n%an <%ae>%n%cn <%ce>%n%B%n${mark}`, commits, '--'],
    ],
    max_output_bytes: MAX_BYTES,
    on_overflow: 'cut',
  })
  const [, ...parts] = output.toString('latin1').split(mark)
  return [
    { path: null, text: raw.toString('latin1') },
    ...parts.flatMap((part, i) => (i % 2 === 0 ? [{ path: null, text: part }] : filesOf(part))),
  ]
}

/**
 * Only a line feed ends a line of a patch, and only headers begin with none of "+- ": no content of a file
 * can be mistaken for a header.
 */
function filesOf(patch: string): AddedText[] {
  return `\n${patch}`
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
