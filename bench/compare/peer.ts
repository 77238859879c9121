import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * A run as its peer started it: `created_at` is performance.now() when the ready peer got the prompt,
 * `start_ms` what it took to be ready for this run.
 */
export type StartedRun = { created_at: number; start_ms: number; ended: Promise<void> }

export type RunningPeer = { version: string; run(prompt: string): Promise<StartedRun> }

/** `start` may throw: a peer that cannot be installed or started is reported, and the others are measured. */
export type Peer = {
  name: string
  /**
   * `folder` is empty and removed at the end, `repository` the path of a bare repository. What is deferred on
   * `stack` ends the peer.
   */
  start(
    stack: AsyncDisposableStack,
    on: { model_url: string; folder: string; repository: string },
  ): Promise<RunningPeer>
}

const run = promisify(execFile)
const root = join(tmpdir(), 'agentrun-bench-peers')

/**
 * Installs packages of npm, once, into a folder below the system's folder for temporary files, and returns
 * it. `choices`: lists of which the first that can be installed is taken. Rejects with the reason of the last
 * one.
 */
export async function installPeer(name: string, choices: string[][]): Promise<string> {
  const folder = join(root, name)
  if (existsSync(join(folder, 'installed'))) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  let reason = ''
  for (const packages of choices) {
    try {
      await run(
        'npm',
        ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--ignore-scripts=false', ...packages],
        { cwd: folder },
      )
      writeFileSync(join(folder, 'installed'), packages.join(' '))
      return folder
    } catch (error) {
      reason = /npm error (?!code)(.*)/.exec(String(error))?.[1] ?? String(error)
    }
  }
  throw new Error(`${choices.at(-1)?.join(' ')} cannot be installed: ${reason}`)
}

export function versionOf(folder: string, name: string): string {
  return (
    JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as {
      version: string
    }
  ).version
}

/**
 * The environment of a peer: nothing of the caller's, and no way to other hosts for programs that respect a
 * proxy.
 */
export const peerEnv = (home: string, env: Record<string, string>) => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  SHELL: '/bin/bash',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
  ...env,
})

/** Starts a program whose standard streams are pipes; it ends with `stack`. */
export function startPeer(
  stack: AsyncDisposableStack,
  program: string,
  args: string[],
  options: { cwd: string; env: Record<string, string> },
): ChildProcess & { stdin: NodeJS.WritableStream; stdout: NodeJS.ReadableStream } {
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = new Promise<void>(resolve => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  stack.defer(async () => {
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), 5_000)
    await ended
    clearTimeout(late)
  })
  return child
}

/** Posts JSON and returns the JSON of the response; throws unless it is a success. */
export async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

/** Resolves with the first match in what a program prints; rejects when it ends or after 60 seconds. */
export function printed(child: { stdout: NodeJS.ReadableStream }, pattern: RegExp): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`it was not ready after 60 s: ${text.slice(-200)}`)),
      60_000,
    )
    child.stdout.on('data', chunk => {
      text = (text + chunk).slice(-10_000)
      const found = pattern.exec(text)
      if (!found) return
      clearTimeout(late)
      resolve(found[1] ?? '')
    })
    child.stdout.on('end', () => {
      clearTimeout(late)
      reject(new Error(`it ended: ${text.slice(-200)}`))
    })
  })
}
