// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { serveMcp } from '../mcp-servers/http-server.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { type CodingApp, PRICED } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'
import {
  CLAUDE_CODE,
  CODEX,
  expectPullRequest,
  GEMINI,
  OPENCODE,
  REAL_AGENTS,
  scriptOf,
  startAgentApp,
} from './real-agents.ts'

const TIMEOUT_MS = 120_000
const resume = (app: CodingApp, agent_run_id: number, more: object) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id, ...more })

test.each([CODEX, GEMINI, OPENCODE])(
  '$id works on a run in its sandbox up to a pull request: its calls are metered, its tools are in the trace, and the key of the model is not in its sandbox',
  expectPullRequest,
  TIMEOUT_MS,
)

test.each(REAL_AGENTS)(
  '$id: a follow-up continues with the whole conversation, in the session of the agent where it can, and checks that fail go back to the same one',
  async agent => {
    const prompts: string[] = []
    const bodies: string[] = []
    const script = scriptOf(agent, [
      request => {
        prompts.push(JSON.stringify(agent.wire.prompt(request)))
        bodies.push(JSON.stringify(request.body))
        return { tool_calls: [agent.shell('echo more >>notes.txt')] }
      },
      () => ({ text: 'I wrote notes.' }),
    ])
    await using app = await startAgentApp(agent, script)
    const agent_type = agent.id
    const checks = [
      {
        name: 'lines',
        command: 'test "$(wc -l <notes.txt)" -ge 2 || { echo "notes are too short"; exit 1; }',
      },
    ]
    expect(
      await app.call('PUT', `/v1/organizations/${app.org_id}/repos/${app.repo_id}/checks`, { checks }),
    ).toMatchObject({
      status: 200,
    })
    const { id } = await createRun(app, { prompt: 'Write notes.', agent_type })
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 1 })
    expect(prompts).toHaveLength(2)
    expect(prompts[0]).toContain('Write notes.')
    expect(prompts[1]).toContain('notes are too short')

    expect((await resume(app, id, { prompt: 'Write one more line.' })).status).toBe(200)
    expect(await awaitRun(app, id, run => run.turn === 2 && run.terminal)).toMatchObject({
      status: 'completed',
      result: expect.stringContaining('I wrote notes.'),
    })
    expect(prompts).toHaveLength(3)
    const logs = await allLogs(app, id)
    expect(logs.filter((entry: any) => entry.observation?.code === 'agent_session_lost')).toEqual([])
    expect(prompts[2]).toContain('Write one more line.')
    // It is in the prompt where a session cannot be continued; otherwise the agent has it, with its calls and
    // their results.
    if (agent.continues) expect(prompts[2]).not.toContain('Write notes.')
    else expect(prompts[2]).toContain('The conversation so far')
    for (const part of ['Write notes.', 'I wrote notes.']) expect(bodies[2]).toContain(part)
    // What it reports of them again is not in the trace twice.
    expect(logs.filter((entry: any) => entry.tool_name === agent.names.shell)).toHaveLength(3)
  },
  TIMEOUT_MS,
)

test.each(REAL_AGENTS)(
  '$id: a budget pauses a run before a call that does not fit, and a stop ends it in the middle of a command',
  async agent => {
    // The model of OpenCode's other tests has no price.
    const priced = agent === OPENCODE ? { ...agent, model: PRICED.model, wire: CODEX.wire } : agent
    const script = scriptOf(priced, [
      () => ({ tool_calls: [agent.shell('echo one')] }),
      () => ({ tool_calls: [agent.shell('echo started; sleep 600')] }),
    ])
    await using app = await startAgentApp(priced, script)
    const agent_type = agent.id
    const paused = await createRun(app, { prompt: 'x', agent_type, budget: { max_cost_usd: '0.001' } })
    const run = await awaitRun(app, paused.id, ({ status }) => status === 'paused')
    expect(run).toMatchObject({ status_reason: 'budget', usage: { cost_usd: '0' } })
    expect(app.model.requests).toEqual([])

    const { id } = await createRun(app, { prompt: 'x', agent_type, budget: { max_steps: 3 } })
    expect(await awaitRun(app, id, ({ status }) => status === 'paused' || status === 'running')).toBeTruthy()
    await expect
      .poll(
        async () =>
          (await rows(app, "select 1 from journal where run_id = $1 and kind = 'tool_started'", [id])).length,
        {
          timeout: 30_000,
        },
      )
      .toBe(2)
    expect(
      (await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })).status,
    ).toBe(200)
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'cancelled' })
  },
  TIMEOUT_MS,
)

test.each(REAL_AGENTS)(
  '$id asks before it executes a command, and executes it after the approval',
  async agent => {
    const prompts: string[] = []
    const script = scriptOf(agent, [
      request => {
        prompts.push(JSON.stringify(agent.wire.prompt(request)))
        return { tool_calls: [(agent.asking ?? agent.shell)('echo approved >approved.txt')] }
      },
      () => ({ text: 'Done.' }),
    ])
    await using app = await startAgentApp(agent, script, {}, { permissions: 'ask' })
    const { id } = await createRun(app, { prompt: 'Write a file.', agent_type: agent.id })
    const run = await awaitRun(app, id, ({ status, terminal }) => status === 'waiting' || terminal)
    expect(run, JSON.stringify((await allLogs(app, id)).slice(-3))).toMatchObject({
      status: 'waiting',
      waiting_on: 'tool_approval',
    })
    expect(
      JSON.stringify(
        (await allLogs(app, id)).findLast((entry: any) => entry.tool_output?.approval)?.tool_input,
      ),
    ).toContain('echo approved >approved.txt')
    expect((await resume(app, id, { prompt: 'Yes.', approve: true })).status).toBe(200)
    const ended = await awaitEnd(app, id)
    expect(ended, JSON.stringify((await allLogs(app, id)).slice(-3))).toMatchObject({
      status: 'completed',
      result: 'Done.',
    })
    expect(prompts.at(-1)).toContain('A person has approved the last call above')
    expect(app.git('show', `${ended.github_pull_requests[0].head_branch_name}:approved.txt`)).toBe(
      'approved\n',
    )
  },
  TIMEOUT_MS,
)

test(
  'a plan that OpenCode reports as a tool call is in the trace',
  async () => {
    const todos = [{ id: '1', content: 'Think first', status: 'in_progress', priority: 'high' }]
    const plan = { tool_calls: [{ name: 'todowrite', arguments: { todos } }] }
    await using app = await startAgentApp(
      OPENCODE,
      scriptOf(OPENCODE, [() => plan, () => ({ text: 'Done.' })]),
    )
    const { id } = await createRun(app, { prompt: 'Plan.', agent_type: OPENCODE.id })
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
    const plans = (await allLogs(app, id)).filter((entry: any) => entry.message_type === 'PLAN_EVALUATION')
    expect(plans).toMatchObject([{ observation: { plan: [{ text: 'Think first', state: 'in_progress' }] } }])
  },
  TIMEOUT_MS,
)

test(
  'the calls of a sub-agent of Claude Code are metered and in the trace, it is an ACTION, and its text is not the answer',
  async () => {
    const script = scriptOf(CLAUDE_CODE, [
      request =>
        JSON.stringify(CLAUDE_CODE.wire.prompt(request)).includes('Look around')
          ? { tool_calls: [CLAUDE_CODE.shell('echo from the sub-agent')] }
          : {
              tool_calls: [
                {
                  name: 'Agent',
                  arguments: { description: 'Look', prompt: 'Look around.', run_in_background: false },
                },
              ],
            },
      request => ({
        text: JSON.stringify(CLAUDE_CODE.wire.prompt(request)).includes('Look around')
          ? 'I have looked.'
          : 'Done.',
      }),
    ])
    await using app = await startAgentApp(CLAUDE_CODE, script)
    const { id } = await createRun(app, { prompt: 'Delegate it.', agent_type: CLAUDE_CODE.id })
    const sent = () => app.model.requests.length
    expect(await awaitEnd(app, id)).toMatchObject({
      status: 'completed',
      result: 'Done.',
      usage: { input_tokens: 100 * sent() },
    })
    expect(sent()).toBeGreaterThanOrEqual(4)
    const calls = (await allLogs(app, id)).filter((entry: any) => ['Bash', 'Agent'].includes(entry.tool_name))
    expect(calls).toMatchObject([
      { tool_name: 'Bash', tool_output: { output: 'from the sub-agent' } },
      { tool_name: 'Agent', tool_output: { output: expect.stringContaining('I have looked.') } },
    ])
  },
  TIMEOUT_MS,
)

test('an agent that is not registered, and a model that it cannot call, are refused with the field', async () => {
  await using app = await startAgentApp(OPENCODE, scriptOf(OPENCODE, []))
  const create = (body: object) =>
    app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, { prompt: 'x', ...body })
  const agent_type = OPENCODE.id
  const unknown = await create({ agent_type: 'gemini' })
  expect(unknown).toMatchObject({ status: 400, body: { errors: [{ loc: ['body', 'agent_type'] }] } })
  expect(unknown.body.detail).toContain('available: built_in, opencode')
  expect(await create({ agent_type, model: 'scripted/playbook' })).toMatchObject({
    status: 400,
    body: { errors: [{ loc: ['body', 'model'] }] },
  })
})

test.each(REAL_AGENTS)(
  '$id calls a tool of an MCP server by the service, which has its credential',
  async agent => {
    await using server = await serveMcp()
    const script = scriptOf(agent, [
      ({ body }) => ({ tool_calls: [agent.served('tickets', 'search', { text: 'a bug' }, body)] }),
      request => ({
        text: `I found: ${JSON.stringify(agent.wire.results(request)).includes('found a bug')}`,
      }),
    ])
    await using app = await startAgentApp(agent, script, { AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' })
    const set = (path: string, body: object) =>
      app.call('PUT', `/v1/organizations/${app.org_id}/${path}`, body)
    const egress = {
      agent: { mode: 'allowlist', allow: [{ host: 'localhost', port: server.port }], presets: [] },
    }
    expect((await set('egress', egress)).status).toBe(200)
    expect(
      (await set('mcp-servers/tickets', { url: `${server.origin}/mcp`, credential: 'secret-of-tickets' }))
        .status,
    ).toBe(200)
    const { id } = await createRun(app, { prompt: 'Search.', agent_type: agent.id })
    const run = await awaitEnd(app, id)
    const logs = await allLogs(app, id)
    expect(run, JSON.stringify(logs.slice(-4))).toMatchObject({
      status: 'completed',
      result: 'I found: true',
    })
    expect(logs.filter((entry: any) => entry.tool_name === 'tickets__search')).toMatchObject([
      { tool_output: { status: 'ok' } },
    ])
    expect(server.seen.at(-1)?.headers.authorization).toBe('Bearer secret-of-tickets')
  },
  TIMEOUT_MS,
)
