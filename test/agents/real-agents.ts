// biome-ignore-all lint/suspicious/noExplicitAny: requests are read without types
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { KNOWN_AGENTS } from '../../src/core/agents/known-agents.ts'
import { startFakeAnthropic } from '../model/fake-anthropic.ts'
import { startFakeGoogle } from '../model/fake-google.ts'
import { startFakeOpenAI } from '../model/fake-openai.ts'
import type { FakeResponse, FakeScript, FakeServer, FakeToolCall, SeenRequest } from '../model/fake-server.ts'
import { allLogs, awaitEnd, createRun } from '../runs/await-run.ts'
import { type CodingApp, gitIn, makeRepository } from '../runs/coding-app.ts'
import { rows, startApp } from '../start-app.ts'
import { SEARCH } from './key-search.ts'

const run = promisify(execFile)

/** The key of the fake providers: it must be nowhere in a sandbox. */
export const MODEL_KEY = 'key-of-the-model-server'

type Server = FakeServer & { base_url: string }
/**
 * How a wire format is served, and how a request shows the results of tools since the last message of a
 * person.
 */
type Wire = {
  start(script: FakeScript): Promise<Server>
  env(server: Server): Record<string, string>
  results(request: SeenRequest): unknown[]
  /** Its last message of a person. */
  prompt(request: SeenRequest): unknown
  isStep(request: SeenRequest): boolean
}

/** A real agent from npm, its tools as the fake model calls them, and their names in the trace. */
export type RealAgent = {
  id: string
  wire: Wire
  model: string
  shell(command: string): FakeToolCall
  /** The call of a command for which the agent asks a person. */
  asking?(command: string): FakeToolCall
  write(path: string, content: string): FakeToolCall
  /** The call of a tool of an MCP server, as the request offers it. */
  served(server: string, tool: string, input: object, body: object): FakeToolCall
  names: { shell: string; write: string }
  /** What it reports of the output of commands: Gemini CLI nothing, Codex not what is there at once. */
  output: 'whole' | 'late' | 'none'
  /** Whether a later process continues its sessions. */
  continues: boolean
}

type IsPerson = (item: any) => boolean
const after = (items: unknown, isPerson: IsPerson): any[] =>
  (items as any[]).slice((items as any[]).findLastIndex(isPerson) + 1)
const lastOf = (items: unknown, isPerson: IsPerson): unknown => (items as any[]).findLast(isPerson)
const isUser: IsPerson = ({ role }) => role === 'user'
const partsOf = ({ content, parts = content }: any): any[] => (Array.isArray(parts) ? parts : [])
const hasTools = ({ body }: SeenRequest) => Array.isArray(body.tools) && body.tools.length > 0

const isToolResult: IsPerson = ({ type, functionResponse }) =>
  type === 'tool_result' || functionResponse !== undefined
const isMessage: IsPerson = item => isUser(item) && !partsOf(item).some(isToolResult)

const chat: Wire = {
  start: startFakeOpenAI,
  env: ({ base_url }) => ({ OPENAI_COMPATIBLE_BASE_URL: base_url, OPENAI_COMPATIBLE_API_KEY: MODEL_KEY }),
  results: ({ body }) => after(body.messages, isUser).filter(({ role }) => role === 'tool'),
  prompt: ({ body }) => lastOf(body.messages, isUser),
  isStep: hasTools,
}
const responses: Wire = {
  start: startFakeOpenAI,
  env: ({ base_url }) => ({ OPENAI_BASE_URL: base_url, OPENAI_API_KEY: MODEL_KEY }),
  results: ({ body }) => after(body.input, isUser).filter(({ type }) => /_output$/.test(type)),
  prompt: ({ body }) => lastOf(body.input, isUser),
  isStep: request =>
    hasTools(request) || (request.body.input as any[]).some(({ type }) => type === 'additional_tools'),
}
const messages: Wire = {
  start: startFakeAnthropic,
  env: ({ base_url }) => ({ ANTHROPIC_BASE_URL: base_url, ANTHROPIC_API_KEY: MODEL_KEY }),
  results: ({ body }) =>
    after(body.messages, isMessage).flatMap(message => partsOf(message).filter(isToolResult)),
  prompt: ({ body }) => lastOf(body.messages, isMessage),
  isStep: hasTools,
}
const generate: Wire = {
  start: startFakeGoogle,
  env: ({ base_url }) => ({
    GOOGLE_GENERATIVE_AI_BASE_URL: base_url,
    GOOGLE_GENERATIVE_AI_API_KEY: MODEL_KEY,
  }),
  results: ({ body }) =>
    after(body.contents, isMessage).flatMap(content => partsOf(content).filter(isToolResult)),
  prompt: ({ body }) => lastOf(body.contents, isMessage),
  isStep: hasTools,
}

/** Agents name the tools of servers in ways of their own. */
const servedTool: RealAgent['served'] = (server, tool, input, body) => {
  const [name = 'none'] =
    new RegExp(`(?<=")[\\w.-]*${server}[\\w.-]*${tool}(?=")`).exec(JSON.stringify(body)) ?? []
  return { name, arguments: { ...input } }
}

export const OPENCODE: RealAgent = {
  id: 'opencode',
  wire: chat,
  model: 'openai-compatible/fake',
  output: 'whole',
  continues: true,
  shell: command => ({ name: 'bash', arguments: { command, description: 'Work' } }),
  write: (path, content) => ({ name: 'write', arguments: { filePath: `/workspace/${path}`, content } }),
  served: servedTool,
  names: { shell: 'bash', write: 'write' },
}
export const CODEX: RealAgent = {
  id: 'codex',
  wire: responses,
  model: 'openai/gpt-6.1-sol',
  output: 'late',
  continues: true,
  shell: cmd => ({ name: 'exec_command', arguments: { cmd, yield_time_ms: 30_000 } }),
  asking: cmd => ({
    name: 'exec_command',
    arguments: { cmd, sandbox_permissions: 'require_escalated', justification: 'Do it?' },
  }),
  write: (path, content) => ({
    name: 'apply_patch',
    custom: true,
    arguments: `*** Begin Patch\n*** Add File: ${path}\n${content.replace(/^(?=.)/gm, '+')}*** End Patch\n`,
  }),
  // It offers them to the scripts of its model.
  served: (server, tool, input) => ({
    name: 'exec',
    custom: true,
    arguments: `text(await tools.mcp__${server}__${tool}(${JSON.stringify(input)}))`,
  }),
  names: { shell: 'exec_command', write: 'edit' },
}
export const CLAUDE_CODE: RealAgent = {
  id: 'claude_code',
  wire: messages,
  model: 'anthropic/claude-sonnet-5-5',
  output: 'whole',
  continues: true,
  shell: command => ({ name: 'Bash', arguments: { command, description: 'Work' } }),
  write: (path, content) => ({ name: 'Write', arguments: { file_path: `/workspace/${path}`, content } }),
  served: servedTool,
  names: { shell: 'Bash', write: 'Write' },
}
export const GEMINI: RealAgent = {
  id: 'gemini',
  wire: generate,
  model: 'google/gemini-3.8-flash',
  output: 'none',
  continues: false,
  shell: command => ({ name: 'run_shell_command', arguments: { command, description: 'Work' } }),
  write: (path, content) => ({ name: 'write_file', arguments: { file_path: `/workspace/${path}`, content } }),
  served: servedTool,
  names: { shell: 'run_shell_command', write: 'write_file' },
}
export const REAL_AGENTS = [CLAUDE_CODE, CODEX, GEMINI, OPENCODE]

/** Installs an agent from npm once per machine, and returns its folder. */
export async function installAgent({ id }: RealAgent): Promise<string> {
  const npm = KNOWN_AGENTS[id]?.npm
  if (npm === undefined) throw new Error(`the service does not know ${id}`)
  return installPackage(`${npm.package}@${npm.verified}`, id === 'opencode')
}

/** The same for a package with its version. */
export async function installPackage(version: string, has_script = false): Promise<string> {
  const folder = join(tmpdir(), `agentrun-test-agents-${version.replaceAll(/[@/]+/g, '-')}`)
  if (existsSync(folder)) return folder
  const preparing = `${folder}-${process.pid}`
  mkdirSync(preparing, { recursive: true })
  const options = ['--no-audit', '--no-fund', '--no-save', `--ignore-scripts=${!has_script}`]
  await run('npm', ['install', ...options, '--prefix', preparing, version], { cwd: preparing })
  renameSync(preparing, folder)
  return folder
}

type Step = (request: SeenRequest) => FakeResponse | Promise<FakeResponse>

/**
 * Plays a response for each step, by the number of tool results in the request; the last one also for later
 * steps.
 */
export function scriptOf({ wire }: RealAgent, steps: Step[]): FakeScript {
  return request => {
    // Agents request titles and summaries without tools.
    if (!wire.isStep(request)) return { text: 'A title' }
    const step = steps[Math.min(wire.results(request).length, steps.length - 1)]
    return step?.(request) ?? { text: 'Nothing to do.' }
  }
}

/**
 * The variables of a service with a real agent, whose model is played by `server`. `settings`: of the agent.
 */
export async function agentEnv(
  agent: RealAgent,
  server: Server,
  settings: object = {},
): Promise<Record<string, string>> {
  const folder = await installAgent(agent)
  return {
    ...agent.wire.env(server),
    AGENTRUN_DEFAULT_MODEL: agent.model,
    AGENTRUN_AGENTS: JSON.stringify({ [agent.id]: { folder, ...settings } }),
  }
}

/** The service with a real agent, whose model plays `script`. */
export async function startAgentApp(
  agent: RealAgent,
  script: FakeScript,
  env: Record<string, string> = {},
  settings: object = {},
): Promise<CodingApp> {
  await using stack = new AsyncDisposableStack()
  const model = stack.use(await agent.wire.start(script))
  const repository = makeRepository()
  const app = stack.use(
    await startApp({
      ...(await agentEnv(agent, model, settings)),
      AGENTRUN_INIT_REPO_URL: repository,
      ...env,
    }),
  )
  const running = stack.move()
  return {
    ...app,
    model,
    repository,
    git: (...args: string[]) => gitIn(repository, ...args),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** An agent works on a run in its sandbox up to a pull request: what each of them must do. */
export async function expectPullRequest(agent: RealAgent): Promise<void> {
  let searched = ''
  const script = scriptOf(agent, [
    () => ({ text: 'I look first.', tool_calls: [agent.shell(`cat count.js; ${SEARCH}`)] }),
    request => {
      searched = JSON.stringify(agent.wire.results(request))
      return { tool_calls: [agent.write('two.js', 'export const two = 2\n')] }
    },
    () => ({ tool_calls: [agent.shell('exit 3')] }),
    () => ({ text: 'I added two.js.' }),
  ])
  await using app = await startAgentApp(agent, script)
  const created = await createRun(app, { prompt: 'Add two.js.', agent_type: agent.id })
  const run = await awaitEnd(app, created.id)
  const logs = await allLogs(app, created.id)
  const shown = JSON.stringify([logs.slice(-3), app.model.requests.map(({ path }) => path)])
  expect(run, shown).toMatchObject({ status: 'completed', result: 'I added two.js.', agent_type: agent.id })
  expect(run.github_pull_requests).toMatchObject([{ state: 'open', files_changed: 1 }])
  expect(app.git('show', `${run.github_pull_requests[0].head_branch_name}:two.js`)).toBe(
    'export const two = 2\n',
  )
  expect(searched).toContain('export const one = 1\\nsearched\\n0')

  const actions = (name: string) =>
    logs.filter((entry: any) => entry.message_type === 'ACTION' && entry.tool_name === name)
  const [look, failed, ...others] = actions(agent.names.shell)
  expect(others).toEqual([])
  const command = agent.output === 'none' ? 'title' : 'command'
  expect(look).toMatchObject({
    thought: 'I look first.',
    tool_input: { [command]: expect.stringContaining('cat count.js') },
  })
  if (agent.output === 'whole')
    expect(look.tool_output.output.trim()).toBe('export const one = 1\nsearched\n0')
  if (agent.output === 'late') expect(look.tool_output.output.trim()).toMatch(/searched\n0$/)
  if (agent.output !== 'none') expect(failed.tool_output).toMatchObject({ exit_code: 3 })
  expect(actions(agent.names.write)).toMatchObject([{ tool_output: { status: 'ok' } }])
  // OpenCode installs the package of its plugins where it can; the others reach for nothing but the gateway.
  const hosts = logs
    .filter(({ tool_name }: any) => tool_name === 'egress_blocked')
    .map(({ tool_input }: any) => tool_input.host)
  expect(hosts.filter((host: unknown) => host !== undefined)).toEqual(
    agent.id === 'opencode' ? ['registry.npmjs.org'] : [],
  )

  // Each call is a step, that for a title too; the fake model reports 100 and 20 tokens for each.
  const sent = app.model.requests.length
  expect(run.usage).toMatchObject({ input_tokens: 100 * sent, output_tokens: 20 * sent })
  expect(app.model.requests.every(({ headers }) => JSON.stringify(headers).includes(MODEL_KEY))).toBe(true)
  const journal = await rows<{ kind: string }>(app, 'select kind from journal where run_id = $1 order by n', [
    created.id,
  ])
  const count = (kind: string) => journal.filter(row => row.kind === kind).length
  expect([count('model_started'), count('model_answered')]).toEqual([sent, sent])
  expect([count('tool_started'), count('tool_finished')]).toEqual([3, 4])
}
