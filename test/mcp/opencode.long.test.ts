import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { installPeer, peerEnv } from '../../bench/compare/peer.ts'
import { startFakeOpenAI } from '../model/fake-openai.ts'
import type { FakeReply, SeenRequest } from '../model/fake-server.ts'
import { calls, finish, responses, shell, startCodingApp } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const VERSION = '1.18.33'
const run = promisify(execFile)

type Message = { role: string; content: unknown; tool_call_id?: string }
type Body = { messages: Message[]; tools?: { function: { name: string; parameters: unknown } }[] }

/** The results of tools that a model was sent so far, as JSON. */
const resultsIn = ({ body }: SeenRequest) =>
  (body as Body).messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => JSON.parse(String(content)))

/**
 * What the model of the calling agent responds: it starts a run, waits for it as often as needed, and reads
 * its diff.
 */
function callerScript(request: SeenRequest): FakeReply {
  const { tools = [] } = request.body as Body
  // The title of the session is requested without tools.
  if (tools.length === 0) return { text: 'A run elsewhere' }
  const results = resultsIn(request)
  const last = results.at(-1)
  const [created] = results
  if (last === undefined)
    return calls({
      name: 'agentrun_create_agent_run',
      arguments: { prompt: 'Write a note.', idempotency_key: 'note' },
    })
  if (last.patch !== undefined)
    return { text: `Run ${created.id} wrote: ${/^\+(\w.*)$/m.exec(last.patch)?.[1]}` }
  if (last.reason === 'ended')
    return calls({ name: 'agentrun_get_agent_run_diff', arguments: { agent_run_id: created.id } })
  return calls({ name: 'agentrun_wait_for_agent_run', arguments: { agent_run_id: created.id } })
}

test('OpenCode, connected by the line of the documentation, starts a run here, waits for it and reads its diff', async () => {
  const installed = await installPeer(`opencode-${VERSION}`, [[`opencode-ai@${VERSION}`]])
  // The project's npm executes no install scripts; this one chooses the binary of the machine.
  await run(process.execPath, ['postinstall.mjs'], { cwd: join(installed, 'node_modules/opencode-ai') })
  await using app = await startCodingApp(
    responses(calls(shell('echo a note from the run > note.txt')), finish('Written.')),
  )
  await using caller = await startFakeOpenAI(callerScript)
  using folder = temporaryFolder()
  const [config, project] = [join(folder.path, 'config/opencode'), join(folder.path, 'project')]
  mkdirSync(config, { recursive: true })
  mkdirSync(project)
  const model = { name: 'fake', tool_call: true, limit: { context: 1_000_000, output: 32_000 } }
  const options = { baseURL: caller.base_url, apiKey: 'none' }
  writeFileSync(
    join(config, 'opencode.jsonc'),
    JSON.stringify({
      provider: { fake: { npm: '@ai-sdk/openai-compatible', options, models: { fake: model } } },
      model: 'fake/fake',
      small_model: 'fake/fake',
      snapshot: false,
      autoupdate: false,
      share: 'disabled',
      permission: 'allow',
    }),
  )
  const env = {
    ...peerEnv(folder.path, {
      XDG_CONFIG_HOME: join(folder.path, 'config'),
      XDG_DATA_HOME: join(folder.path, 'share'),
      XDG_CACHE_HOME: join(folder.path, 'cache'),
      XDG_STATE_HOME: join(folder.path, 'state'),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      AGENTRUN_TOKEN: app.token,
    }),
    PATH: `${join(installed, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
  }
  const at = { cwd: project, env, timeout: 120_000 }
  const page = readFileSync(new URL('../../docs/how-to/mcp.md', import.meta.url), 'utf8')
  const [line = ''] = /^opencode mcp add .*$/m.exec(page) ?? []
  await run('/bin/sh', ['-c', line.replace('http://127.0.0.1:4600', app.base_url)], at)

  const ran = run('opencode', ['run', 'Have a note written by the service.'], at)
  // It would wait for more of its prompt.
  ran.child.stdin?.end()
  const { stdout } = await ran
  const [created] = await rows<{ id: number; status: string; prompt: string }>(
    app,
    'select id, status, prompt from runs',
  )
  expect(created).toMatchObject({ status: 'completed', prompt: 'Write a note.' })
  expect(stdout).toContain(`Run ${created?.id} wrote: a note from the run`)

  const offered = caller.requests.flatMap(
    ({ body }) => (body as Body).tools?.map(tool => tool.function.name) ?? [],
  )
  expect(offered).toEqual(
    expect.arrayContaining(['agentrun_create_agent_run', 'agentrun_wait_for_agent_run']),
  )
  const called = app.logs
    .filter(({ message }) => message === 'tool call')
    .map(({ fields }) => `${fields?.tool} ${fields?.code}`)
  expect(called.at(0)).toBe('create_agent_run ok')
  expect(called.at(-1)).toBe('get_agent_run_diff ok')
  expect(called).toContain('wait_for_agent_run ok')
}, 300_000)
