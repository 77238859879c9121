import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { App } from '../../start-app.ts'

export type ProgramEnd = { code: number; out: string; err: string }

/** The git of a person on another machine: it has only an address and a password. */
export type GitClient = Disposable & {
  folder: string
  /** The address of a repository with a token in it. */
  address(repo_id?: number | string, token?: string | null, org_id?: number): string
  /** Runs git and returns its result, also when it fails. */
  run(...args: string[]): Promise<ProgramEnd>
  /** The same in a folder below. */
  at(folder: string, ...args: string[]): Promise<ProgramEnd>
  /** Runs git and returns its output; throws the error output when git fails. */
  ok(folder: string, ...args: string[]): Promise<string>
}

export function gitClient(app: App, extra: Record<string, string> = {}): GitClient {
  const folder = mkdtempSync(join(tmpdir(), 'agentrun-client-'))
  const who = {
    AUTHOR_NAME: 'Ada',
    AUTHOR_EMAIL: 'ada@example.org',
    COMMITTER_NAME: 'Ada',
    COMMITTER_EMAIL: 'ada@example.org',
  }
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: folder,
    LANG: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...Object.fromEntries(Object.entries(who).map(([name, value]) => [`GIT_${name}`, value])),
    ...extra,
  }
  const at: GitClient['at'] = (folder_name, ...args) => {
    const { promise, resolve } = Promise.withResolvers<ProgramEnd>()
    execFile(
      'git',
      args,
      { cwd: join(folder, folder_name), env, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 },
      (error, out, err) => resolve({ code: error ? Number(error.code ?? 1) : 0, out, err }),
    )
    return promise
  }
  return {
    folder,
    address(repo_id = app.repo_id, token = app.token, org_id = app.org_id) {
      const url = new URL(`${app.base_url}/git/${org_id}/${repo_id}.git`)
      if (token !== null) Object.assign(url, { username: 'git', password: token })
      return url.href
    },
    run: (...args) => at('.', ...args),
    at,
    async ok(folder_name, ...args) {
      const { code, out, err } = await at(folder_name, ...args)
      if (code !== 0) throw new Error(`git ${args.join(' ')}: ${err}${out}`)
      return out.trim()
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
