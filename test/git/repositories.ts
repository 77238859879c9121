import { randomUUID } from 'node:crypto'
import { chmod, chown, lchown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GitRepository } from '../../src/git/git-repository.ts'
import { type GitHost, type GitHostOptions, openGitHost } from '../../src/git/process/git-host.ts'
import { runProgram } from '../../src/system/programs/run-program.ts'
import type { SystemUser } from '../../src/system/users.ts'

export const root = process.getuid?.() === 0

/** Accounts that need no entry in /etc/passwd: git gets its name by configuration. */
export const SERVICE: SystemUser = { name: 'service', uid: 61_001, gid: 61_001 }
export const SANDBOX: SystemUser = { name: 'sandbox', uid: 61_002, gid: 61_001 }
export const ALICE: SystemUser = { name: 'alice', uid: 61_003, gid: 61_003 }

export type GitFixture = AsyncDisposable & { dir: string; host: GitHost }

/** A folder that everybody may enter, with a git host of the service user in it when we are root. */
export async function openGitFixture(options: Partial<GitHostOptions> = {}): Promise<GitFixture> {
  const dir = await mkdtemp(join(tmpdir(), 'agentrun-git-'))
  await chmod(dir, 0o755)
  await mkdir(join(dir, 'data'))
  if (root) await chown(join(dir, 'data'), SERVICE.uid, SERVICE.gid)
  const host = await openGitHost({
    data_dir: join(dir, 'data'),
    user: root ? SERVICE : null,
    allow_private: true,
    ...options,
  })
  return {
    dir,
    host,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Runs a program as a user and gives its standard output; a failure rejects with what it wrote to stderr. */
export async function run(
  cwd: string,
  program: string,
  args: string[],
  options: { user?: SystemUser | null; input?: string | Buffer; env?: Record<string, string> } = {},
): Promise<Buffer> {
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
    HOME: '/nonexistent',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.org',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.org',
    ...options.env,
  }
  const identity = { cwd, env, ...(options.user && { user: options.user }) }
  const command = {
    program,
    args,
    ...identity,
    stdin: options.input ?? '',
    max_output_bytes: 256 * 1024 ** 2,
  }
  const { code, stdout, stderr, start_error } = await runProgram(command).done
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${start_error ?? `${stderr}${stdout}`}`)
  return stdout
}

export async function runText(
  cwd: string,
  program: string,
  args: string[],
  options: Parameters<typeof run>[3] = {},
): Promise<string> {
  return (await run(cwd, program, args, options)).toString().trim()
}

/** A repository with a work tree and one commit on `main` of the given files. */
export async function makeRepository(
  dir: string,
  files: Record<string, string> = { 'README.md': '# Hello\n' },
): Promise<string> {
  await mkdir(dir, { recursive: true })
  await run(dir, 'git', ['init', '-q', '-b', 'main', '.'])
  await commitFiles(dir, 'first', files)
  return dir
}

/** Writes files, commits them, and gives the SHA. */
export async function commitFiles(
  dir: string,
  message: string,
  files: Record<string, string>,
): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(dir, path, '..'), { recursive: true })
    await writeFile(join(dir, path), text)
  }
  await run(dir, 'git', ['add', '-A'])
  await run(dir, 'git', ['commit', '-q', '--allow-empty', '-m', message])
  return await runText(dir, 'git', ['rev-parse', 'HEAD'])
}

export async function makeBare(dir: string, from?: string): Promise<string> {
  await run(
    '/',
    'git',
    from ? ['clone', '-q', '--bare', from, dir] : ['init', '-q', '--bare', '-b', 'main', dir],
  )
  return dir
}

/** Gives a tree to a user, the top folder with the given mode. */
export async function give(
  path: string,
  user: SystemUser | { uid: number; gid: number },
  mode?: number,
): Promise<void> {
  for (const name of await readdir(path, { recursive: true }))
    await lchown(join(path, name), user.uid, user.gid)
  await chown(path, user.uid, user.gid)
  if (mode !== undefined) await chmod(path, mode)
}

let lastId = 0
export function localRepository(path: string): GitRepository {
  lastId += 1
  return { id: lastId, kind: 'local', url: path }
}

/** An executable hook. */
export async function addHook(bare: string, name: string, script: string): Promise<void> {
  await mkdir(join(bare, 'hooks'), { recursive: true })
  const file = join(bare, 'hooks', name)
  await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

export function uniqueName(): string {
  return randomUUID().slice(0, 8)
}
