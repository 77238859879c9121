import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { FakeResponse, FakeScript, SeenRequest } from '../model/fake-server.ts'
import { type CodingApp, startCodingApp } from '../runs/coding-app.ts'

const run = promisify(execFile)
const OPENCODE = 'opencode-ai@1.18.33'

/** Installs the real OpenCode from npm once per machine, and returns its folder. */
export async function installOpencode(): Promise<string> {
  const folder = join(tmpdir(), `agentrun-test-agents-${OPENCODE.replace('@', '-')}`)
  if (existsSync(folder)) return folder
  const preparing = `${folder}-${process.pid}`
  mkdirSync(preparing, { recursive: true })
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts=false', '--prefix', preparing, OPENCODE], { cwd: preparing })
  renameSync(preparing, folder)
  return folder
}

/** What OpenCode sends besides its steps: it requests a title without tools. */
const isStep = ({ body }: SeenRequest) => Array.isArray(body.tools) && body.tools.length > 0

/** Plays a response for each step, by the number of tool results in the request; the last one also for later steps. */
export function opencodeScript(steps: ((request: SeenRequest) => FakeResponse | Promise<FakeResponse>)[]): FakeScript {
  return request => {
    if (!isStep(request)) return { text: 'A title' }
    const messages = request.body.messages as { role: string }[]
    const last_user = messages.findLastIndex(({ role }) => role === 'user')
    const done = messages.slice(last_user).filter(({ role }) => role === 'tool').length
    const step = steps[Math.min(done, steps.length - 1)]
    return step?.(request) ?? { text: 'Nothing to do.' }
  }
}

/** The service with the real OpenCode as an agent, whose model plays `script`. */
export async function startOpencodeApp(script: FakeScript, env: Record<string, string> = {}): Promise<CodingApp> {
  const folder = await installOpencode()
  return startCodingApp(script, { AGENTRUN_AGENTS: JSON.stringify({ opencode: { folder } }), ...env })
}

export const bash = (command: string) => ({ name: 'bash', arguments: { command, description: 'Work' } })
export const write = (path: string, content: string) => ({ name: 'write', arguments: { filePath: `/workspace/${path}`, content } })
