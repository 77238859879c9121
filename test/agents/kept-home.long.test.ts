// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import type { CodingApp } from '../runs/coding-app.ts'
import { programEnv, programFolder, programSettings, startProgramApp } from './program-app.ts'

const hello = () => ({ text: 'Hello.' })
const outputOf = (logs: any[]) => logs.findLast(({ tool_name }) => tool_name === 'bash').tool_output.output
const lost = (logs: any[]) => logs.filter(entry => entry.observation?.code === 'agent_session_lost')

async function firstTurn(app: CodingApp, steps: string, agent_type = 'program'): Promise<number> {
  const { id } = await createRun(app, { prompt: `do: ${steps} | say One.`, agent_type })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'One.' })
  return id
}

async function nextTurn(
  app: CodingApp,
  agent_run_id: number,
  steps: string,
): Promise<{ run: any; logs: any[] }> {
  const resumed = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id,
    prompt: `do: ${steps}`,
  })
  expect(resumed.status).toBe(200)
  const run = await awaitRun(
    app,
    agent_run_id,
    ({ turn, terminal }) => turn === resumed.body.turn && terminal,
  )
  return { run, logs: await allLogs(app, agent_run_id) }
}

const RULES = '~/.codex/rules/default.rules'
const SHOW_RULES = `tool cat ${RULES} || echo none | session`

test('what an agent has written into its home folder under one policy is gone under another, and its session too', async () => {
  await using app = await startProgramApp(hello, {}, programSettings({ SESSIONS: 'load' }))
  const id = await firstTurn(app, `tool mkdir -p ~/.codex/rules; echo allow >${RULES}`)
  const kept = await nextTurn(app, id, SHOW_RULES)
  expect([outputOf(kept.logs), kept.run.result]).toEqual(['allow\n', '[prompt 2, continued]'])

  expect(
    (await app.call('PATCH', `/v1/organizations/${app.org_id}`, { agent_permissions: 'ask' })).status,
  ).toBe(200)
  const stricter = await nextTurn(app, id, SHOW_RULES)
  expect([outputOf(stricter.logs), stricter.run.result]).toEqual(['none\n', '[prompt 1, repeated as text]'])
  const again = await nextTurn(app, id, SHOW_RULES)
  expect([outputOf(again.logs), again.run.result]).toEqual(['none\n', '[prompt 2, continued]'])
  expect(lost(again.logs)).toEqual([])
})

test('with another policy the setup commands run again, for an empty home folder', async () => {
  await using app = await startProgramApp(hello, {}, programSettings({ SESSIONS: 'load' }))
  const setup = { commands: ['echo set up >>~/setup.txt'] }
  const path = `/v1/organizations/${app.org_id}/repos/${app.repo_id}/setup-commands`
  expect((await app.call('PUT', path, setup)).status).toBe(200)
  const show = `tool cat ~/setup.txt ${RULES}`
  const id = await firstTurn(app, `tool mkdir -p ~/.codex/rules; echo allow >${RULES}`)
  expect(outputOf((await nextTurn(app, id, `${show} | session`)).logs)).toBe('set up\nallow\n')
  expect(
    (await app.call('PATCH', `/v1/organizations/${app.org_id}`, { agent_permissions: 'ask' })).status,
  ).toBe(200)
  const { run, logs } = await nextTurn(app, id, `${show} | session`)
  expect([outputOf(logs), run.result]).toEqual(['set up\n', '[prompt 1, repeated as text]'])
  expect(lost(logs)).toEqual([])
})

test('the home folder is not kept for a known agent whose sessions are not continued, with a command of the operator too', async () => {
  const program = {
    apis: ['openai-chat'],
    environment: { ...programSettings({ SESSIONS: 'load' }).environment, GEMINI_MODEL: '{model}' },
  }
  const folder = programFolder('.', 'program.mjs')
  const gemini = { ...program, folder, command: 'exec node /opt/agents/gemini/program.mjs' }
  await using app = await startProgramApp(hello, { AGENTRUN_AGENTS: JSON.stringify({ gemini }) })
  const id = await firstTurn(app, 'tool mkdir -p ~/.gemini/policies', 'gemini')
  const { run, logs } = await nextTurn(app, id, 'tool ls -d ~/.gemini/policies || echo none | session')
  expect([outputOf(logs), run.result]).toEqual(['none\n', '[prompt 1, repeated as text]'])
})

describe('an agent that leaves what it may not', () => {
  let app: CodingApp
  beforeAll(async () => {
    const folder = programFolder('node_modules/@agentclientprotocol/claude-agent-acp/dist', 'index.js')
    const claude_code = { folder, apis: ['openai-chat'], ...programSettings({ SESSIONS: 'load' }) }
    const { program } = JSON.parse(programEnv().AGENTRUN_AGENTS ?? '')
    app = await startProgramApp(hello, { AGENTRUN_AGENTS: JSON.stringify({ program, claude_code }) })
  })
  afterAll(() => app[Symbol.asyncDispose]())

  test.each([
    ['a named pipe as the file', 'mkdir -p ~/.config/agentrun; mkfifo ~/.config/agentrun/credentials'],
    ['a file as the folder', 'touch ~/.config'],
    [
      'a link to a file of the workspace',
      'mkdir -p ~/.config/agentrun; ln -s /workspace/leak.txt ~/.config/agentrun/credentials',
    ],
    ['a link to the workspace', 'mkdir -p ~/.config; ln -s /workspace ~/.config/agentrun'],
    ['no permissions', 'mkdir ~/.config; chmod 0 ~/.config; chmod 0 ~'],
  ])('the next sandbox has its canary, and only there, after an agent has left %s', async (_, left) => {
    const id = await firstTurn(app, `tool ls -A /workspace >~/before; rm -rf ~/.config; ${left}`)
    const { run, logs } = await nextTurn(
      app,
      id,
      `tool ls -A /workspace >~/after; diff ~/before ~/after && cat ~/.config/agentrun/credentials | say Two.`,
    )
    expect(run).toMatchObject({ status: 'completed', result: 'Two.', github_pull_requests: [] })
    expect(outputOf(logs)).toBe('[default]\ntoken = [redacted:canary]\n')
    expect(logs.filter(entry => entry.observation?.code === 'canary_seen')).toHaveLength(1)
  })

  test.each([
    ['a named pipe', 'mkfifo ~/.claude/settings.json'],
    ['a link to the workspace', 'rm -r ~/.claude; ln -s /workspace ~/.claude'],
  ])(
    'the settings that the service writes for an agent replace %s that it has left there',
    async (_, left) => {
      const id = await firstTurn(
        app,
        `tool ls -A /workspace >~/before; rm ~/.claude/settings.json; ${left}`,
        'claude_code',
      )
      const look =
        'ls -A /workspace >~/after; diff ~/before ~/after && grep -o bypassPermissions ~/.claude/settings.json'
      const { run, logs } = await nextTurn(app, id, `tool ${look} | session`)
      expect([outputOf(logs), run.result]).toEqual(['bypassPermissions\n', '[prompt 2, continued]'])
    },
  )
})
