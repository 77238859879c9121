import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitRepository } from '../../../src/git/git-repository.ts'
import { mirrorPath } from '../../../src/git/process/git-host.ts'
import { importBundle, keepPushed, runRef } from '../../../src/git/publish/bundles.ts'
import { bundleCommand } from '../../../src/git/workspace/bundle-command.ts'
import { commitCommand, parseCommit } from '../../../src/git/workspace/commit-command.ts'
import { cloneCommand, type WorkspaceRepository } from '../../../src/git/workspace/workspace-commands.ts'
import { type GitFixture, root, SANDBOX } from '../repositories.ts'

/** The time of its commits. */
const AT = new Date('2026-11-20T10:30:00.000Z')

export type CommandEnd = { exit_code: number; stdout: Buffer; stderr: string; output: string }

export type Workspace = {
  dir: string
  input: WorkspaceRepository
  /** Runs a bash command line in the workspace as the sandbox's user, with nothing of our environment. */
  bash(command: string): Promise<CommandEnd>
  clone(): Promise<CommandEnd>
  commit(message?: string): Promise<{ head_sha: string | null; committed: boolean }>
  /** Bundles `head_sha` out and takes it into the mirror, as after a push. */
  deliver(head_sha: string, turn?: number): Promise<{ ref: string; sha: string }>
}

/** A workspace folder of the sandbox's user beside the mirror, which it sees at its real path. */
export async function openWorkspace(
  fixture: GitFixture,
  repo: GitRepository,
  base_sha: string | null,
  run_id = 7,
): Promise<Workspace> {
  const dir = join(fixture.dir, `workspace-${randomUUID()}`)
  await mkdir(dir)
  if (root) await chown(dir, SANDBOX.uid, SANDBOX.gid)
  const home = join(fixture.dir, 'sandbox-home')
  await mkdir(home, { recursive: true })
  await writeFile(
    join(home, '.gitconfig'),
    '[safe]\n\tdirectory = *\n[user]\n\tname = Somebody\n\temail = somebody@example.org\n',
  )
  const input: WorkspaceRepository = {
    mirror_inside: mirrorPath(fixture.host, repo.id),
    base_sha,
    branch: `agent/run-${run_id}-task`,
    origin_url: 'https://git.example.org/acme/app.git',
    author_name: 'Agent "A" O\'Run',
    author_email: 'agent@example.org',
  }
  const bash = (command: string) => runBash(dir, home, command)
  return {
    dir,
    input,
    bash,
    clone: () => bash(cloneCommand(input)),
    async commit(message = 'Change it') {
      const ran = await bash(commitCommand({ ...input, message, at: AT, exported_sha: null }))
      const parsed = parseCommit(ran.exit_code, ran.stderr)
      if (!parsed) throw new Error(`commit failed with ${ran.exit_code}: ${ran.output}`)
      return { head_sha: parsed.head_sha, committed: parsed.committed }
    },
    async deliver(head_sha, turn = 1) {
      const ran = await bash(bundleCommand({ ...input, head_sha }))
      if (ran.exit_code !== 0) throw new Error(`bundle failed with ${ran.exit_code}: ${ran.stderr}`)
      const file = join(fixture.dir, `${randomUUID()}.bundle`)
      await writeFile(file, ran.stdout, { mode: 0o600 })
      const objects = { repository_id: repo.id, run_id }
      await importBundle(fixture.host, objects, file, { head_sha, base_sha })
      await keepPushed(fixture.host, objects, { turn, head_sha, base_sha, branch: null })
      return { ref: runRef(run_id, turn), sha: head_sha }
    },
  }
}

function runBash(cwd: string, home: string, command: string): Promise<CommandEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<CommandEnd>()
  const child = spawn('bash', ['-c', command], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin', HOME: home },
    ...(root ? { uid: SANDBOX.uid, gid: SANDBOX.gid } : {}),
  })
  const out: Buffer[] = []
  const all: Buffer[] = []
  const errors: Buffer[] = []
  child.stdout.on('data', chunk => {
    out.push(chunk)
    all.push(chunk)
  })
  child.stderr.on('data', chunk => {
    errors.push(chunk)
    all.push(chunk)
  })
  child.on('error', reject)
  child.on('close', code =>
    resolve({
      exit_code: code ?? 255,
      stdout: Buffer.concat(out),
      stderr: Buffer.concat(errors).toString(),
      output: Buffer.concat(all).toString(),
    }),
  )
  return promise
}
