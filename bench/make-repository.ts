import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const FILES = 300
const COMMITS = 500
const BRANCHES = 12

/**
 * A bare repository with 300 files in 30 folders, 500 commits that change a few of them each, merges,
 * branches and tags; the same at each call.
 */
export function makeRepository(): { path: string } & Disposable {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-bench-repository-')))
  chmodSync(folder, 0o755)
  const path = join(folder, 'app.git')
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', path], { env })
  execFileSync('git', ['fast-import', '--quiet'], {
    env: { ...env, GIT_DIR: path },
    input: history(),
    maxBuffer: 1e9,
  })
  execFileSync('git', ['gc', '--quiet'], { env: { ...env, GIT_DIR: path } })
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

function history(): string {
  const random = numbers(42)
  const files = Array.from({ length: FILES }, (_, i) =>
    Array.from({ length: 20 + random(180) }, () => line(random, i)),
  )
  const lines: string[] = []
  const blob = (i: number) => {
    const text = `${(files[i] ?? []).join('\n')}\n`
    lines.push(`M 100644 inline src/part-${i % 30}/file-${i}.js`, `data ${Buffer.byteLength(text)}`, text)
  }
  const commit = (ref: string, message: string, at: number) =>
    lines.push(
      `commit ${ref}`,
      `mark :${at}`,
      `committer Ada <ada@example.org> ${1_700_000_000 + at * 3600} +0000`,
      `data ${message.length}`,
      message,
    )

  commit('refs/heads/main', 'Begin', 1)
  for (let i = 0; i < FILES; i++) blob(i)
  for (let n = 2; n <= COMMITS; n++) {
    commit('refs/heads/main', `Change ${n}`, n)
    lines.push(`from :${n - 1}`)
    if (n > 40 && n % 20 === 0) lines.push(`merge :${n - 15}`)
    for (let i = 0; i <= random(4); i++) {
      const file = random(FILES)
      files[file]?.splice(random(20), 1, line(random, file), line(random, file))
      blob(file)
    }
    if (n % 50 === 0) lines.push(`reset refs/tags/v${n / 50}`, `from :${n}`, '')
  }
  for (let i = 0; i < BRANCHES; i++) lines.push(`reset refs/heads/topic-${i}`, `from :${COMMITS - i * 7}`, '')
  return `${lines.join('\n')}\ndone\n`
}

const line = (random: (below: number) => number, i: number) =>
  `export const value_${i}_${random(100_000)} = ${random(1_000_000_000)}`

/** Pseudo-random whole numbers below a bound. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
