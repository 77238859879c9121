import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { type GitCall, openGit } from '../process/run-git.ts'

/**
 * Reads objects with one process; `onObject` returns the names of further ones to read. A missing one has the
 * type `missing`, and its name for `sha`.
 */
export async function readObjects(
  host: GitHost,
  call: Omit<GitCall, 'args'>,
  names: string[],
  onObject: (sha: string, type: string, bytes: Buffer) => Promise<string[]>,
): Promise<void> {
  const requested = new Set(names)
  let waiting = requested.size
  if (waiting === 0) return
  let [chunks, length, needed]: [Buffer[], number, number] = [[], 0, 1]
  const read = async (chunk: Buffer, request: (names: string[]) => void) => {
    chunks.push(chunk)
    length += chunk.length
    if (length < needed) return
    const bytes = Buffer.concat(chunks)
    let at = 0
    for (;;) {
      const end = bytes.indexOf(10, at)
      needed = 1
      if (end < 0) break
      const line = bytes.toString('latin1', at, end)
      const [, sha = line.replace(/ missing$/, ''), type = 'missing', size = ''] =
        /^([0-9a-f]{40}) ([a-z]+) (\d+)$/.exec(line) ?? []
      const next = end + 1 + (size === '' ? 0 : Number(size) + 1)
      if (next > bytes.length) {
        needed = next - at
        break
      }
      const named = await onObject(sha, type, bytes.subarray(end + 1, Math.max(end + 1, next - 1)))
      const more = named.filter(name => !requested.has(name))
      for (const name of more) requested.add(name)
      waiting += new Set(more).size - 1
      request([...new Set(more)])
      at = next
    }
    chunks = [bytes.subarray(at)]
    length = bytes.length - at
    if (waiting === 0) request([])
  }
  await readOutput(
    host,
    { ...call, args: ['cat-file', '--batch'] },
    read,
    [...requested],
    () => waiting === 0,
  )
}

type Reader = (chunk: Buffer, request: (names: string[]) => void) => void | Promise<void>

/**
 * Passes all output to `read`; an exception of `read` ends git. `names` go to git's standard input, which
 * ends when `isDone`.
 */
export async function readOutput(
  host: GitHost,
  call: GitCall,
  read: Reader,
  names: string[] = [],
  isDone = () => true,
): Promise<void> {
  const stop = new AbortController()
  const signal = call.signal ? AbortSignal.any([call.signal, stop.signal]) : stop.signal
  const { output, write, done } = openGit(host, { ...call, signal })
  const request = (more: string[]) => write(more.map(name => `${name}\n`).join(''), isDone())
  request(names)
  try {
    for await (const chunk of output) await read(chunk, request)
  } catch (error) {
    stop.abort(error)
  }
  const { exit_code, stderr } = await done
  signal.throwIfAborted()
  if (exit_code !== 0) throw new GitError('corrupt', `the objects cannot be read: ${stderr.trim()}`)
}
