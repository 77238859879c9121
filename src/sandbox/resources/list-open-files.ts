import { niceProgram } from '../../system/programs/nice-program.ts'
import { runProgram } from '../../system/programs/run-program.ts'

const MAX_OUTPUT_BYTES = 64 * 1024 ** 2
/** The kernel limits the bytes of all arguments; each of these has about 30. */
const FOLDERS_AT_ONCE = 2_000
const in_flight = ['-exec', 'grep', '-slE', '^scm_fds:[[:space:]]+[1-9]', '{}', '+']

/**
 * Returns what `find` prints about `folders`, one for each thread; incomplete when the time is over. In a
 * separate program, because there may be a million descriptors. Processes end meanwhile, so its errors are
 * ignored.
 */
export async function listOpenFiles(
  folders: string[],
  options: string[],
  tests: string[],
  timeout_ms: number,
) {
  const ends_at = performance.now() + timeout_ms
  let listed = ''
  for (let from = 0; from < folders.length; from += FOLDERS_AT_ONCE) {
    const find = [
      '/usr/bin/find',
      ...options,
      ...folders.slice(from, from + FOLDERS_AT_ONCE),
      '-mindepth',
      '1',
      '-maxdepth',
      '1',
      ...tests,
    ]
    const left = Math.max(1, Math.ceil(ends_at - performance.now()))
    const { code, stdout } = await runProgram({
      ...niceProgram(find),
      timeout_ms: left,
      max_output_bytes: MAX_OUTPUT_BYTES,
    }).done
    listed += stdout.toString()
    if (code === null) return { listed, complete: false }
  }
  return { listed, complete: true }
}

/**
 * Lists the sockets of `threads` (`/proc/…/task/…`) in which descriptors wait: they were sent and not
 * received yet, and no process has their files meanwhile.
 */
export const listWaitingSockets = (threads: string[], timeout_ms: number) =>
  listOpenFiles(
    threads.map(thread => `${thread}/fdinfo`),
    [],
    in_flight,
    timeout_ms,
  )
