import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const FOLDERS = 50
const FILES_IN_EACH = 50
const FILE_BYTES = 20 * 1024

/** A bare repository whose one commit has 2,500 files, 50 MB in all; the same at each call. */
export function makeLargeRepository(): { path: string } & Disposable {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-bench-large-')))
  chmodSync(folder, 0o755)
  const path = join(folder, 'large.git')
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', path], { env })
  execFileSync('git', ['fast-import', '--quiet'], { env: { ...env, GIT_DIR: path }, input: oneCommit() })
  execFileSync('git', ['gc', '--quiet'], { env: { ...env, GIT_DIR: path } })
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

function oneCommit(): string {
  const lines = [
    'commit refs/heads/main',
    'committer Ada <ada@example.org> 1700000000 +0000',
    'data 5',
    'Begin',
  ]
  for (let folder = 0; folder < FOLDERS; folder++)
    for (let file = 0; file < FILES_IN_EACH; file++)
      lines.push(
        `M 100644 inline src/part-${folder}/file-${file}.ts`,
        `data ${FILE_BYTES}`,
        text(folder * FILES_IN_EACH + file),
      )
  return `${lines.join('\n')}\ndone\n`
}

/** About as compressible as source code is. */
function text(of: number): string {
  let lines = ''
  let state = of + 1
  while (lines.length < FILE_BYTES) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    lines += `export const value_${state.toString(36)} = compute(${state % 1000}, 'part ${of}')\n`
  }
  return lines.slice(0, FILE_BYTES)
}
