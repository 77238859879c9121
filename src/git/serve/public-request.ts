import type { GitHost } from '../process/git-host.ts'
import type { FetchLine } from './fetch-request.ts'
import { hiddenObjects, publicRefs } from './public-objects.ts'

/**
 * Replaces a hidden object that a client has: whether there are such lines decides which parts the response
 * has.
 */
const NO_OBJECT = '0'.repeat(40)

/**
 * Writes the request for git. Protocol 2 serves any object that a client can name, and in every version the
 * parents of a commit at which the client's history ends, and differences to an object that it has. So an
 * object that is not public does not exist: it cannot be wanted, and git does not read its name in what the
 * client has.
 */
export async function publicRequest(
  host: GitHost,
  repository_id: number,
  lines: FetchLine[],
  signal: AbortSignal,
): Promise<Buffer | { problem: string }> {
  const wants = new Set(lines.flatMap(line => (line.kind === 'want' ? [line.sha] : [])))
  const marks = new Set(lines.flatMap(line => (line.kind === 'mark' ? [line.sha] : [])))
  const excluded = lines.flatMap(line => (line.kind === 'deepen_not' ? [line.name] : []))
  if (wants.size + marks.size + excluded.length === 0) return writeRequest(lines)
  const refs = await publicRefs(host, repository_id, signal)
  const hidden = await hiddenObjects(host, repository_id, { wants, marks, refs }, signal)
  const unknown = [...wants].find(sha => hidden.has(sha))
  if (unknown !== undefined) return { problem: `${unknown} is not part of any branch or tag here` }
  if (excluded.some(name => publicName(refs.names, name) === null))
    return {
      problem:
        'a branch or tag whose history is excluded does not exist here, or has the name of another one',
    }
  return writeRequest(
    lines.flatMap((line): FetchLine[] => {
      if (line.kind === 'deepen_not') return [{ ...line, name: publicName(refs.names, line.name) ?? '' }]
      if (line.kind !== 'mark' || !hidden.has(line.sha)) return [line]
      return line.word === 'have' ? [{ ...line, sha: NO_OBJECT }] : []
    }),
  )
}

/**
 * Returns the full name of a branch or tag, or null unless there is exactly one. A client may shorten it as
 * on a command line.
 */
function publicName(names: ReadonlySet<string>, name: string): string | null {
  if (name === 'HEAD') return name
  const found = [name, `refs/${name}`, `refs/tags/${name}`, `refs/heads/${name}`].filter(full =>
    names.has(full),
  )
  return found.length === 1 ? (found[0] ?? null) : null
}

/** Git's standard input; each line is written in one form. */
function writeRequest(lines: FetchLine[]): Buffer {
  return Buffer.from(lines.map(writeLine).join(''), 'latin1')
}

function writeLine(line: FetchLine): string {
  if (line.kind === 'flush') return '0000'
  if (line.kind === 'delimiter') return '0001'
  const text = textOf(line)
  return `${(text.length + 5).toString(16).padStart(4, '0')}${text}\n`
}

function textOf(line: Exclude<FetchLine, { kind: 'flush' } | { kind: 'delimiter' }>): string {
  if (line.kind === 'want') return `want ${line.sha}${line.rest}`
  if (line.kind === 'mark') return `${line.word} ${line.sha}`
  return line.kind === 'deepen_not' ? `deepen-not ${line.name}` : line.text
}
