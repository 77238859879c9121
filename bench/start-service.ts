import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { socketUrl } from '../src/postgres/socket-folder.ts'

export const TOKEN = 'bench-token-0123456789abcdef'
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const supervisor = fileURLToPath(new URL('../supervisor.sh', import.meta.url))
/**
 * The options of Node in `npm start`: without them memory is collected at other times, and a page of logs
 * costs twice as much.
 */
const node_options =
  /start "\$node" (--.+?) "\$main"/.exec(readFileSync(supervisor, 'utf8'))?.[1]?.split(' ') ?? []

export type Service = AsyncDisposable & {
  /** Base URL of the organization's resources. */
  url: string
  pid: number
  /** The embedded database, fsync on, as a service has it. */
  database_url: string
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  /** Resolves when the run has ended; rejects unless it is `completed`. */
  ended(run_id: number): Promise<void>
}

/**
 * `within`: a command that starts it; `supervised`: as `npm start` does, and `pid` is that of the supervisor;
 * `data`: a folder that stays.
 */
type Start = { within?: string[]; supervised?: boolean; data?: string }

/** The service as a process of its own, on a fresh data folder. `env` as an operator would set it. */
export async function startService(
  env: Record<string, string>,
  { within = [], supervised, data }: Start = {},
): Promise<Service> {
  const folder = data ?? temporaryData()
  const arguments_of_node = [...node_options, ...(process.env.BENCH_NODE_OPTIONS?.split(' ') ?? [])]
  const command = supervised ? ['/bin/bash', supervisor] : [process.execPath, ...arguments_of_node, main]
  const [program = '', ...args] = [...within, ...command]
  const child = spawn(program, args, {
    env: {
      PATH: process.env.PATH ?? '',
      AGENTRUN_DATA_DIR: folder,
      AGENTRUN_PORT: '0',
      AGENTRUN_INIT_TOKEN: TOKEN,
      AGENTRUN_LIMIT_STANDARD: 'off',
      AGENTRUN_LIMIT_AGENT_CREATION: 'off',
      AGENTRUN_LIMIT_TOKEN_TOTAL: 'off',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    complaints = (complaints + text).slice(-4_000)
  })
  const gone = new Promise<never>((_resolve, reject) => {
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`the service ended with ${code}: ${complaints}`)))
  })
  gone.catch(() => {})
  const [, base_url = '', org_id = ''] = await Promise.race([banner(child.stdout), gone])
  const url = `${base_url}/v1/organizations/${org_id}`
  // The command that starts it may ignore signals.
  const pid = within.length === 0 ? (child.pid ?? 0) : childOf(child.pid ?? 0)

  const call: Service['call'] = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const result = (await response.json()) as Record<string, unknown>
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${result.detail}`)
    return result
  }
  return {
    url,
    pid,
    database_url: socketUrl(join(folder, 'postgres/run'), 'agentrun', 'agentrun'),
    call,
    async ended(run_id) {
      for (;;) {
        const run = await call('GET', `/agent/run/${run_id}`)
        if (run.terminal && run.status === 'completed') return
        if (run.terminal)
          throw new Error(`run ${run_id} is ${run.status}: ${JSON.stringify(run.error)}\n${complaints}`)
        await new Promise(resolve => setTimeout(resolve, 200))
      }
    },
    async [Symbol.asyncDispose]() {
      const ended = new Promise(resolve => child.once('exit', resolve))
      if (child.exitCode === null && process.kill(pid, 'SIGTERM')) await ended
      if (data === undefined) rmSync(dirname(folder), { recursive: true, force: true })
    },
  }
}

/** A data folder in one of its own, that the users of the service can enter. */
export function temporaryData(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-bench-')))
  chmodSync(folder, 0o755)
  return join(folder, 'data')
}

const childOf = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ')[0])

/** What the start prints: address and organization. */
function banner(output: NodeJS.ReadableStream): Promise<string[]> {
  let text = ''
  return new Promise((resolve, reject) => {
    // Read to the end: a service whose output is not read would wait for its reader.
    output.on('data', chunk => {
      text += chunk
      const found = /ready:\s+(\S+)[\s\S]*organization id\s+(\d+)[\s\S]*curl/.exec(text)
      if (found) resolve(found)
    })
    output.on('end', () => reject(new Error(`the service did not start: ${text}`)))
  })
}
