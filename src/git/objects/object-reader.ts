import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { type GitCall, openGit } from '../process/run-git.ts'

/** `name`: as requested. A missing object has the type `missing`. */
type OnInfo = (object: { name: string; type: string; bytes: number }) => void
/** Returns the names of further objects to read. A missing object has its name for `sha`. */
type OnObject = (sha: string, type: string, bytes: Buffer) => Promise<string[]>

/** Reads objects with one process of git, which serves one request after the other. */
export type ObjectReader = {
  /** Reports types and sizes, in this order. */
  describe(names: readonly string[], onInfo: OnInfo): Promise<void>
  /** Reads objects, each once, and those that `onObject` names. */
  read(names: readonly string[], onObject: OnObject): Promise<void>
}

/**
 * Opens a reader for `work`. Its process starts with the first request and has ended when this resolves. An
 * error of `work` ends it. GitError `corrupt` when git reports that objects cannot be read, otherwise as
 * `runGit`.
 */
export async function withObjectReader<T>(
  host: GitHost,
  call: Omit<GitCall, 'args'>,
  work: (reader: ObjectReader) => Promise<T>,
): Promise<T> {
  let session: Session | null = null
  const started = () => (session ??= startSession(host, call))
  const reader: ObjectReader = {
    async describe(names, onInfo) {
      if (names.length === 0) return
      const { request, next } = started()
      request('info', names)
      for (const name of names) {
        const [, type, size] = headOf(await next(null))
        onInfo({ name, type, bytes: size })
      }
    },
    async read(names, onObject) {
      const requested = new Set(names)
      let waiting = requested.size
      if (waiting === 0) return
      const { request, next } = started()
      request('contents', requested)
      for (; waiting > 0; waiting--) {
        const [sha, type, size] = headOf(await next(null))
        const bytes = type === 'missing' ? NOTHING : (await next(size + 1)).subarray(0, size)
        const more = new Set((await onObject(sha, type, bytes)).filter(name => !requested.has(name)))
        for (const name of more) requested.add(name)
        waiting += more.size
        if (more.size > 0) request('contents', more)
      }
    },
  }
  try {
    const result = await work(reader)
    await (session as Session | null)?.end()
    return result
  } catch (error) {
    await (session as Session | null)?.stop(error)
    throw error
  }
}

const NOTHING = Buffer.alloc(0)

type Session = {
  request(command: 'info' | 'contents', names: Iterable<string>): void
  /** Resolves with that many bytes of the output, or for null with the next line. */
  next(bytes: number | null): Promise<Buffer>
  end(): Promise<void>
  stop(reason: unknown): Promise<void>
}

function startSession(host: GitHost, call: Omit<GitCall, 'args'>): Session {
  const over = new AbortController()
  const signal = call.signal ? AbortSignal.any([call.signal, over.signal]) : over.signal
  // Git answers a group of requests at once, and not each with a write of its own.
  const args = ['cat-file', '--batch-command', '--buffer']
  const { output, write, done } = openGit(host, { ...call, signal, args })
  const chunks = output[Symbol.asyncIterator]()
  const finish = async () => {
    const { exit_code, stderr } = await done
    call.signal?.throwIfAborted()
    if (exit_code !== 0) throw new GitError('corrupt', `the objects cannot be read: ${stderr.trim()}`)
  }
  let rest = NOTHING
  const more = async (needed: number) => {
    const parts = [rest]
    for (let length = rest.length; length < needed; ) {
      const { value, done: ended } = await chunks.next()
      if (ended) {
        await finish()
        throw new GitError('failed', 'the objects cannot be read: git ended early')
      }
      parts.push(value)
      length += value.length
    }
    rest = Buffer.concat(parts)
  }
  return {
    request: (command, names) =>
      write(`${Array.from(names, name => `${command} ${name}\n`).join('')}flush\n`, false),
    async next(bytes) {
      let end = bytes ?? rest.indexOf(10)
      for (; end < 0; end = rest.indexOf(10)) await more(rest.length + 1)
      if (bytes !== null && rest.length < bytes) await more(bytes)
      const found = rest.subarray(0, end)
      rest = rest.subarray(bytes ?? end + 1)
      return found
    },
    async end() {
      write('', true)
      await finish()
    },
    async stop(reason) {
      over.abort(reason)
      await done.catch(() => {})
    },
  }
}

/** Name, type and size of an object; `missing` with its name for one that is not there. */
function headOf(line: Buffer): [sha: string, type: string, bytes: number] {
  const text = line.toString('latin1')
  const [, sha = text.replace(/ missing$/, ''), type = 'missing', size = '0'] =
    /^([0-9a-f]{40}) ([a-z]+) (\d+)$/.exec(text) ?? []
  return [sha, type, Number(size)]
}
