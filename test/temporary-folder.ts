import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const folders_of_file: string[] = []
afterAll(() => {
  for (const path of folders_of_file) rmSync(path, { recursive: true, force: true })
})

/** A fresh folder that other users may pass through, removed with everything in it at the end. */
export function temporaryFolder(): { path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-folder-')))
  chmodSync(path, 0o711)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** A fresh folder that other users may read, removed after the last test of the file. */
export function folderOfFile(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-of-file-')))
  folders_of_file.push(path)
  chmodSync(path, 0o755)
  return path
}
