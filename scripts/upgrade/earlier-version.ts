import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const clone = fileURLToPath(new URL('../../', import.meta.url))
const git = (...args: string[]) =>
  execFileSync('git', ['-C', clone, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

/**
 * Returns the commit that TEST_UPGRADE_FROM names, by default the last one before the newest migration; null
 * in a clone without history. Throws when the named commit does not exist.
 */
export function earlierCommit(named: string | undefined): string | null {
  if (named) return git('rev-parse', '--verify', `${named}^{commit}`)
  const newest = readdirSync(join(clone, 'src/store/migrations')).sort().at(-1)
  try {
    const added = git('log', '--diff-filter=A', '--format=%H', '--', `src/store/migrations/${newest}`)
      .split('\n')
      .at(-1)
    return added ? git('rev-parse', '--verify', '--quiet', `${added}^`) : null
  } catch {
    return null
  }
}

/**
 * Writes the service of a commit into the folder, with the packages of this clone. Returns its `src/main.ts`.
 */
export function checkOutService(commit: string, folder: string): string {
  mkdirSync(folder, { recursive: true })
  // The users of the service read its programs.
  chmodSync(folder, 0o755)
  const archive = execFileSync('git', ['-C', clone, 'archive', commit, 'src', 'package.json'], {
    maxBuffer: 100_000_000,
  })
  execFileSync('tar', ['--extract', '--directory', folder], { input: archive })
  symlinkSync(join(clone, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'src/main.ts')
}
