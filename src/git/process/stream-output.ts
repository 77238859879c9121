import type { GitHost } from './git-host.ts'
import { type GitCall, type GitResult, openGit } from './run-git.ts'

/**
 * Runs git like `runGit` and passes all of its output to `read`, however long it is; an exception of `read`
 * ends git and is thrown.
 */
export async function streamOutput(
  host: GitHost,
  call: Omit<GitCall, 'stdin'>,
  read: (chunk: Buffer) => void,
): Promise<GitResult> {
  const stop = new AbortController()
  const signal = call.signal ? AbortSignal.any([call.signal, stop.signal]) : stop.signal
  const { output, write, done } = openGit(host, { ...call, signal })
  write('', true)
  try {
    for await (const chunk of output) read(chunk)
  } catch (error) {
    stop.abort(error)
  }
  return await done
}
