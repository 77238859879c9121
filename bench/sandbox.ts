import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { refreshMirror } from '../src/git/mirrors/mirrors.ts'
import { type GitHost, mirrorPath, openGitHost } from '../src/git/process/git-host.ts'
import { resolveRef } from '../src/git/read/revisions.ts'
import { onTemplateCommand } from '../src/git/workspace/template-commands.ts'
import { cloneCommand } from '../src/git/workspace/workspace-commands.ts'
import type { Sandbox, SandboxDriver } from '../src/sandbox/port.ts'
import { createWorkspace, removeWorkspace } from '../src/sandbox/workspaces/workspaces.ts'
import { createOwnFolder } from '../src/system/own-folder.ts'
import { ensureSystemUsers } from '../src/system/users.ts'
import { Templates } from '../src/worker/base/templates.ts'
import { limits, makeDriver, sandbox_user } from '../test/sandbox/start-sandbox.ts'
import { makeLargeRepository } from './large-repository.ts'
import { addSample, report, type Samples } from './measure.ts'

const STARTS = 20
const COMMANDS = 200
const AT_ONCE = 50

/**
 * What a sandbox costs: start, start with the clone of a warm repository of 50 MB as a layer and without one,
 * a command in a running one beside a plain spawn of the same shell, fifty at once, and the memory of an idle
 * one (PSS of all its processes).
 */
export async function sandbox(): Promise<string> {
  await using host = makeDriver()
  using repository = makeLargeRepository()
  const { service } = ensureSystemUsers()
  const data_dir = join(host.folder, 'data')
  createOwnFolder(data_dir, 0o711, service)
  await using git = await openGitHost({ data_dir, user: service, allow_private: true })
  const repo = { id: 1, kind: 'local' as const, url: repository.path }
  await refreshMirror(git, repo)
  const found = await resolveRef(git, repo.id, 'main')
  if (found === null || 'empty' in found) throw new Error('the repository has no commit')
  const clone = {
    mirror_inside: '/mirror',
    base_sha: found.sha,
    branch: 'agent/run-1-bench',
    origin_url: repository.path,
    author_name: 'Ada',
    author_email: 'ada@example.org',
  }
  const read_only = [{ host: mirrorPath(git, repo.id), inside: '/mirror' }]
  const workspaces = join(host.folder, 'workspaces')
  const start = async (n: number) =>
    host.driver.start({ workspace: await createWorkspace(workspaces, n, 1, sandbox_user), read_only, limits })
  await using templates = openTemplates(host.driver, git, host.folder)
  const startReady = async (n: number) => {
    const template = await templates.provide(repo.id, found.sha, new AbortController().signal)
    if (template === null) throw new Error(`no template: ${templates.problem}`)
    const workspace = await createWorkspace(workspaces, n, 1, sandbox_user, template)
    const layer = await templates.open(workspace, null, template)
    if (layer === null) throw new Error('the template has gone')
    const box = await host.driver.start({ workspace, within: layer, read_only, limits })
    await run(box, 'separate', onTemplateCommand(clone))
    return { box, layer }
  }

  const samples: Samples = new Map()
  const add = (name: string, started: number) => addSample(samples, name, performance.now() - started)
  const ready = 'start and clone of 50 MB, warm'
  for (let n = -1; n < STARTS; n++) {
    const started = performance.now()
    await using box = await start(1_000 + n)
    if (n >= 0) add('start', started)
    await run(box, 'separate', cloneCommand(clone))
    if (n >= 0) add('start and clone of 50 MB without a template', started)
    await box.stop()
    await removeWorkspace(box.workspace, sandbox_user)
    const again = performance.now()
    const created = await startReady(3_000 + n)
    add(n < 0 ? 'the same for the first run of a commit' : ready, again)
    await created.box.stop()
    await created.layer[Symbol.asyncDispose]()
    await removeWorkspace(created.box.workspace, sandbox_user)
    const spawned = performance.now()
    await spawnPlain()
    if (n >= 0) add('baseline: spawn of bash -c true', spawned)
  }
  const commands = await timeCommands(await start(1))
  const crowd = await startMany(host.driver, start)
  return [
    report(`sandbox: ${STARTS} starts one after another`, samples, { name: ready, median_ms: 150 }),
    report(`sandbox: ${COMMANDS} commands in a running one`, commands, {
      name: 'true, in a process of its own',
      median_ms: Math.round((3 + median(commands)) * 100) / 100,
    }),
    crowd,
  ].join('\n')
}

function openTemplates(driver: SandboxDriver, git: GitHost, folder: string): Templates {
  const root = join(folder, 'templates')
  createOwnFolder(root, 0o711, null)
  const folders = { root, workspaces: join(folder, 'workspaces'), user: sandbox_user }
  return new Templates({
    driver,
    git,
    folders,
    sandbox_limits: limits,
    clone_ms: 60_000,
    max_bytes: 1e9,
    log: () => {},
  })
}

async function timeCommands(box: Sandbox): Promise<Samples> {
  const samples: Samples = new Map()
  for (let n = 0; n < COMMANDS; n++) {
    const timed = async (name: string, work: () => Promise<unknown>) => {
      const started = performance.now()
      await work()
      addSample(samples, name, performance.now() - started)
    }
    await timed('true, in the shell', () => run(box, 'persistent', 'true'))
    await timed('true, in a process of its own', () => run(box, 'separate', 'true'))
    await timed('baseline: spawn of bash -c true', spawnPlain)
  }
  await box.stop()
  return samples
}

async function startMany(driver: SandboxDriver, start: (n: number) => Promise<Sandbox>): Promise<string> {
  const started = performance.now()
  const boxes = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => start(2_000 + n)))
  const took = performance.now() - started
  await Promise.all(boxes.map(box => run(box, 'persistent', 'true')))
  const finished = performance.now() - started
  const memory = boxes.map(box => pssBytes(box)).toSorted((a, b) => a - b)
  await Promise.all(boxes.map(box => box.stop()))
  const mebibytes = ((memory[Math.floor(memory.length / 2)] ?? 0) / 1024 ** 2).toFixed(1)
  return `sandbox: ${AT_ONCE} at once by ${driver.name}: started in ${took.toFixed(0)} ms, each has run a command after ${finished.toFixed(0)} ms; an idle one with its shell has ${mebibytes} MiB (PSS)\n`
}

const median = (samples: Samples) => {
  const sorted = (samples.get('baseline: spawn of bash -c true') ?? []).toSorted((a, b) => a - b)
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) * 100) / 100
}

async function run(box: Sandbox, shell: 'persistent' | 'separate', command: string): Promise<void> {
  const result = await box.exec({ command, shell, timeout_ms: 60_000, max_output_bytes: 4_096 })
  if (result.exit_code !== 0) throw new Error(Buffer.from(result.output).toString())
}

function spawnPlain(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['--noprofile', '--norc', '-c', 'true'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.once('error', reject)
    child.once('close', () => resolve())
  })
}

/** Of every process whose mounts show the workspace, bubblewrap's own included. */
function pssBytes(box: Sandbox): number {
  let bytes = 0
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(`${box.workspace} `)) continue
      bytes +=
        1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
    } catch {}
  }
  return bytes
}
