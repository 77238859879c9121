import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'

/** A fresh folder that other users may pass through, removed with everything in it at the end. */
export function temporaryFolder(): { path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-folder-')))
  chmodSync(path, 0o711)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** A fresh folder that other users may read, removed at the end of the test run. */
export function testFolder(): string {
  const path = realpathSync(mkdtempSync(join(inject('folder'), 'of-test-')))
  chmodSync(path, 0o755)
  return path
}
