// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { withProfile } from '../api/clients/with-profile.ts'
import { allLogs, awaitEnd, createRun } from '../runs/await-run.ts'
import { rows } from '../start-app.ts'
import { SEARCH } from './key-search.ts'
import { CLAUDE_CODE, MODEL_KEY, REAL_AGENTS, scriptOf, startAgentApp } from './real-agents.ts'

const TIMEOUT_MS = 120_000

test.each(REAL_AGENTS)(
  '$id works on a run in its sandbox up to a pull request: its calls are metered, its tools are in the trace, and the key of the model is not in its sandbox',
  async agent => {
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
    expect(app.git('show', `${run.github_pull_requests[0].head_branch_name}:two.js`)).toBe('export const two = 2\n')
    expect(searched).toContain('export const one = 1\\nsearched\\n0')

    const actions = (name: string) => logs.filter((entry: any) => entry.message_type === 'ACTION' && entry.tool_name === name)
    const [look, failed, ...others] = actions(agent.names.shell)
    expect(others).toEqual([])
    const command = agent.output === 'none' ? 'title' : 'command'
    expect(look).toMatchObject({ thought: 'I look first.', tool_input: { [command]: expect.stringContaining('cat count.js') } })
    if (agent.output === 'whole') expect(look.tool_output.output.trim()).toBe('export const one = 1\nsearched\n0')
    if (agent.output === 'late') expect(look.tool_output.output.trim()).toMatch(/searched\n0$/)
    if (agent.output !== 'none') expect(failed.tool_output).toMatchObject({ exit_code: 3 })
    expect(actions(agent.names.write)).toMatchObject([{ tool_output: { status: 'ok' } }])
    // OpenCode installs the package of its plugins where it can; the others reach for nothing but the gateway.
    const hosts = logs.filter(({ tool_name }: any) => tool_name === 'egress_blocked').map(({ tool_input }: any) => tool_input.host)
    expect(hosts.filter((host: unknown) => host !== undefined)).toEqual(agent.id === 'opencode' ? ['registry.npmjs.org'] : [])

    // Each call is a step, that for a title too; the fake model reports 100 and 20 tokens for each.
    const sent = app.model.requests.length
    expect(run.usage).toMatchObject({ input_tokens: 100 * sent, output_tokens: 20 * sent })
    expect(app.model.requests.every(({ headers }) => JSON.stringify(headers).includes(MODEL_KEY))).toBe(true)
    const journal = await rows<{ kind: string }>(app, 'select kind from journal where run_id = $1 order by n', [created.id])
    const count = (kind: string) => journal.filter(row => row.kind === kind).length
    expect([count('model_started'), count('model_answered')]).toEqual([sent, sent])
    expect([count('tool_started'), count('tool_finished')]).toEqual([3, 4])
  },
  TIMEOUT_MS,
)

test(
  'under wire profile codegen claude_code is Claude Code if it is registered and can call the model, and the built-in agent otherwise',
  async () => {
    await using app = await startAgentApp(CLAUDE_CODE, scriptOf(CLAUDE_CODE, [() => ({ text: 'Hello.' })]))
    const { call } = await withProfile(app, 'codegen')
    const create = (body: object) =>
      call('POST', `/v1/organizations/${app.org_id}/agent/run`, { prompt: 'Greet me.', agent_type: 'claude_code', ...body })
    const { body } = await create({})
    expect(await awaitEnd(app, body.id)).toMatchObject({ status: 'completed', agent_type: 'claude_code', result: 'Hello.' })
    expect((await create({ prompt: 'finish: Hi', model: 'scripted/playbook' })).body).toMatchObject({ agent_type: 'built_in' })
    expect((await create({ agent_type: 'codex' })).body).toMatchObject({ agent_type: 'built_in' })
  },
  TIMEOUT_MS,
)
