import { statSync } from 'node:fs'
import { niceCommand } from '../../system/programs/nice-program.ts'
import { runCommand } from '../../system/programs/run-program.ts'
import type { WorkspaceSize } from '../workspaces/workspace-size.ts'
import { descendantsOf, threadsOf } from './descendants.ts'

const LIST_TIMEOUT_MS = 20_000
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2

/**
 * Returns the size of deleted files that descendants of `process_1` have open or mapped: they are on the disk of `folders`, where no
 * listing shows them. Files that are only mapped are visible to root alone. Null when the size cannot be determined in time.
 */
export async function deletedFiles(process_1: number, folders: string[]): Promise<WorkspaceSize | null> {
  const processes = process_1 > 0 ? descendantsOf(process_1) : []
  // Threads may have files of their own. Without root there would be an error for each mapped file.
  const open_files = processes.flatMap(pid => [
    ...(process.getuid?.() === 0 ? [`/proc/${pid}/map_files`] : []),
    ...threadsOf(pid).map(thread => `/proc/${pid}/task/${thread}/fd`),
  ])
  if (open_files.length === 0) return { bytes: 0, files: 0 }
  const output = await namelessIn(open_files)
  if (output === null) return null
  // As the sandbox sees it, where its workspace is a layer.
  const devices = new Set([...folders, ...processes.map(pid => `/proc/${pid}/root/workspace`)].flatMap(deviceOf))
  const files = new Map(
    output.split('\n').flatMap((line): [string, number][] => {
      const [device = '', inode = '', blocks = ''] = line.split(' ')
      return devices.has(device) ? [[`${device} ${inode}`, Number(blocks) * 512]] : []
    }),
  )
  return { bytes: [...files.values()].reduce((sum, bytes) => sum + bytes, 0), files: files.size }
}

/** In a separate program: there may be a million of them. Processes end meanwhile, so it always reports errors. */
async function namelessIn(folders: string[]): Promise<string | null> {
  const depth = ['-mindepth', '1', '-maxdepth', '1']
  const find = ['/usr/bin/find', '-L', ...folders, ...depth, '-type', 'f', '-links', '0', '-printf', '%D %i %b\n']
  const limits = { timeout_ms: LIST_TIMEOUT_MS, max_output_bytes: MAX_OUTPUT_BYTES }
  const { code, stdout } = await runCommand({ ...niceCommand(find), ...limits }).done
  return code === null ? null : stdout.toString()
}

function deviceOf(path: string): string[] {
  try {
    return [String(statSync(path).dev)]
  } catch {
    return []
  }
}
