import { markSuspect } from '../mirrors/mirror-refs.ts'
import { type ObjectReader, withObjectReader } from '../objects/object-reader.ts'
import { objectsOf, type RunObjects } from '../objects/objects.ts'
import { refusedObjects } from '../objects/quarantine.ts'
import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import type { GitCall } from '../process/run-git.ts'
import { shownPath } from '../process/shown-text.ts'
import { streamOutput } from '../process/stream-output.ts'
import { asSha } from '../refs/ref-name.ts'

const LIST_MS = 300_000
/** Of a longer list only the beginning is examined; all of it is checked to be there. */
const MAX_LIST_BYTES = 16 * 1024 ** 2
const MAX_COMMIT_BYTES = 64 * 1024 ** 2
const NAMES_AT_ONCE = 10_000

/**
 * What commits add. `blobs`: every version of a file, with its size in bytes, including those that a later
 * commit removes. `commits`: the commits as they are stored, newest first, one character per byte, because
 * headers may be hidden and the encoding may be wrong; the first 64 MiB. `parents`: of these commits.
 */
export type NewObjects = {
  blobs: { path: string; bytes: number }[]
  commits: string
  parents: ReadonlySet<string>
}

/** The commits that are in `head_sha` and not in `base_sha`; null: all of `head_sha`. */
export type CommitRange = { base_sha: string | null; head_sha: string }

/**
 * Lists what the commits of a range add, and checks on the way that each of
 * their objects exists. `call`: where git finds them; `reader` reads there. GitError `corrupt` when one is
 * missing, `timeout`, `failed`.
 */
export async function listNewObjects(
  host: GitHost,
  call: Omit<GitCall, 'args'>,
  reader: ObjectReader,
  { base_sha, head_sha }: CommitRange,
): Promise<NewObjects> {
  const without = base_sha === null ? [] : [`^${asSha(base_sha)}`]
  const lines = await listedLines(host, call, [asSha(head_sha), ...without])
  // A commit has no name behind it, not even the empty one of the tree at its top.
  const names = lines.filter(line => line.length === SHA)
  const { commits, parents } = await readCommits(reader, names)
  const blobs: NewObjects['blobs'] = []
  const files = lines.filter(line => line.length > SHA + 1)
  for (let at = 0; at < files.length; at += NAMES_AT_ONCE) {
    const some = files.slice(at, at + NAMES_AT_ONCE)
    let n = 0
    const shas = some.map(line => line.slice(0, SHA))
    await reader.describe(shas, ({ type, bytes }) => {
      const path = some[n++]?.slice(SHA + 1) ?? ''
      if (type === 'blob') blobs.push({ path: shownPath(Buffer.from(path, 'latin1')), bytes })
    })
  }
  return { blobs, commits, parents }
}

/** The same for commits that are stored already. A mirror that lost objects is marked. */
export async function storedNewObjects(
  host: GitHost,
  objects: RunObjects,
  range: CommitRange,
): Promise<NewObjects> {
  const call = { ...objectsOf(host, objects), timeout_ms: LIST_MS }
  try {
    return await withObjectReader(host, call, reader => listNewObjects(host, call, reader, range))
  } catch (error) {
    if (error instanceof GitError && error.code === 'corrupt') await markSuspect(host, objects.repository_id)
    throw error
  }
}

const SHA = 40

/** The lines, `sha` or `sha path`, of the first 16 MiB; one character per byte. */
async function listedLines(host: GitHost, call: Omit<GitCall, 'args'>, range: string[]): Promise<string[]> {
  const kept: Buffer[] = []
  let bytes = 0
  const args = ['rev-list', '--objects', ...range]
  const { exit_code, stderr } = await streamOutput(host, { ...call, args, timeout_ms: LIST_MS }, chunk => {
    if (bytes < MAX_LIST_BYTES) kept.push(chunk)
    bytes += chunk.length
  })
  if (exit_code !== 0) throw refusedObjects(stderr)
  const listed = Buffer.concat(kept).subarray(0, MAX_LIST_BYTES)
  return listed.toString('latin1', 0, listed.lastIndexOf(10) + 1).split('\n')
}

async function readCommits(
  reader: ObjectReader,
  names: readonly string[],
): Promise<Pick<NewObjects, 'commits' | 'parents'>> {
  const texts: string[] = []
  const parents = new Set<string>()
  let [at, length] = [0, 0]
  while (at < names.length && length < MAX_COMMIT_BYTES) {
    // A commit has at most 1 MiB.
    const some = names.slice(at, at + COMMITS_AT_ONCE)
    at += some.length
    await reader.read(some, async (_sha, _type, bytes) => {
      const text = bytes.toString('latin1')
      length += text.length
      texts.push(text)
      const headers = text.slice(0, Math.max(0, text.indexOf('\n\n')))
      for (const [, parent = ''] of headers.matchAll(/^parent ([0-9a-f]{40})$/gm)) parents.add(parent)
      return []
    })
  }
  return { commits: texts.join('\n'), parents }
}

const COMMITS_AT_ONCE = 64
