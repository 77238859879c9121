import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openHeldBack } from '../../../src/store/pull-requests/pull-request-moves.ts'
import { savePullRequest } from '../../../src/store/pull-requests/pull-requests.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'

export type Files = Record<string, string>
export type Proposal = { id: number; run_id: number; branch: string; head_sha: string; base_sha: string }

/** The service without workers, on a bare repository, and pull requests as runs would have proposed them. */
export type ForgeApp = App & {
  remote: string
  /** Git in the remote. */
  git(...args: string[]): string
  /**
   * Creates a commit on a branch of the remote, created from `main` if it is new; a file of null is deleted.
   * Returns the SHA.
   */
  put(branch: string, files: Record<string, string | null>): string
  /** A branch with a commit on top of `main`, and the pull request of it as a worker saves it. */
  propose(files: Files, target?: { repository_id?: number; base_branch?: string }): Promise<Proposal>
}

export async function startForgeApp(env: Record<string, string> = {}): Promise<ForgeApp> {
  const stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'agentrun-forge-'))
  chmodSync(folder, 0o755)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const remote = join(folder, 'remote.git')
  const work = join(folder, 'work')
  gitAt(folder, 'init', '--quiet', '--bare', '--initial-branch=main', remote)
  gitAt(folder, 'clone', '--quiet', remote, work)
  const put: ForgeApp['put'] = (branch, files) => {
    gitAt(work, 'fetch', '--quiet', '--prune', 'origin')
    const known = gitAt(work, 'branch', '--remotes', '--format=%(refname:lstrip=2)').split('\n')
    const from = [`origin/${branch}`, 'origin/main'].filter(name => known.includes(name)).slice(0, 1)
    gitAt(work, 'checkout', '--quiet', '--force', '-B', branch, ...from)
    for (const [name, text] of Object.entries(files)) {
      if (text === null) rmSync(join(work, name))
      else {
        mkdirSync(dirname(join(work, name)), { recursive: true })
        writeFileSync(join(work, name), text)
      }
    }
    gitAt(work, 'add', '--all')
    gitAt(work, 'commit', '--quiet', '--allow-empty', '-m', `change ${branch}`)
    gitAt(work, 'push', '--quiet', 'origin', branch)
    return gitAt(work, 'rev-parse', 'HEAD')
  }
  put('main', { 'a.txt': 'a\n', 'b.txt': 'b\n' })
  const app = stack.use(
    await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_INIT_REPO_URL: remote, ...env }),
  )
  return {
    ...app,
    remote,
    git: (...args) => gitAt(remote, ...args),
    put,
    async propose(files, { repository_id = app.repo_id, base_branch = 'main' } = {}) {
      const { id: run_id } = await createRun(app, { prompt: 'x', repo_id: repository_id })
      const branch = `agent/run-${run_id}-x`
      gitAt(work, 'fetch', '--quiet', '--prune', 'origin')
      gitAt(work, 'push', '--quiet', 'origin', `origin/main:refs/heads/${branch}`)
      const base_sha = gitAt(remote, 'rev-parse', 'main')
      const head_sha = put(branch, files)
      const counts = { files_changed: Object.keys(files).length, additions: 1, deletions: 1 }
      const words = {
        title: `Change ${run_id}`,
        body: 'Because.',
        url: `${app.base_url}/agent/trace/${run_id}?view=changes`,
      }
      const ids = { organization_id: app.org_id, repository_id, run_id, head_branch: branch, base_branch }
      const row = await savePullRequest(app.db, { ...ids, ...words, ...counts, base_sha, head_sha })
      if (!row || !(await openHeldBack(app.db, app.org_id, row.id, head_sha)))
        throw new Error('the pull request was not saved')
      return { id: row.id, run_id, branch, head_sha, base_sha }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

function gitAt(folder: string, ...args: string[]): string {
  const person = { NAME: 'Ada', EMAIL: 'ada@example.org' }
  const identity = Object.fromEntries(
    Object.entries(person).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]),
  )
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    ...identity,
  }
  return execFileSync('git', args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}
