// biome-ignore-all lint/suspicious/noExplicitAny: responses are read without types
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../../client/run-cli.ts'
import { allLogs, awaitEnd } from '../../runs/await-run.ts'
import { type CheckedApp, startCheckedApp } from '../../runs/checks/checked-app.ts'
import { calls, shell } from '../../runs/coding-app.ts'
import { rows } from '../../start-app.ts'
import { addSandbox, addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'

let app: CheckedApp
let other: Tenant
/** Its agent imports a module that is not installed, and its check fails. */
let run: any
let logs: any[]
const MISSING = `node -e 'require("left-pad-zz")'`
const fail = async () => {
  app.script = [
    calls(shell(MISSING)),
    calls(shell('echo "export const two = 2" >>count.js')),
    { text: 'Gave up.' },
  ]
  return app.seen(await app.start())
}
beforeAll(async () => {
  app = await startCheckedApp()
  other = await addTenant(app)
  await app.follow({ check_retry_count: 0 })
  await app.checkBy({ test: 'echo "not ok 1 - counts"; exit 1' })
  ;({ run, logs } = await fail())
})
afterAll(() => app[Symbol.asyncDispose]())

const post = (path: string, body?: unknown) => app.call('POST', app.at(path), body)
const analyzeRun = (id: number, body?: unknown) => post(`/agent/run/${id}/analyze-logs`, body)
const explain = (explanation: string, ...references: object[]) =>
  calls({ name: 'log_explanation', arguments: { explanation, references } })
const seqOf = (command: string) => logs.find(entry => entry.tool_input?.command === command)?.seq

describe('analyzeAgentRunLogs', () => {
  test('200: names the cause immediately, with its entry, its sandbox and the fix; a run queries a model to explain it, and marks entries that do not exist', async () => {
    const seq = seqOf(MISSING)
    app.script = [
      explain(
        `The module is missing (#${seq}), see #998.`,
        { agent_run_id: run.id, seq },
        { agent_run_id: run.id, seq: 999 },
      ),
    ]
    const calls_before = app.lastMessages().length
    const { status, body } = await analyzeRun(run.id, { prompt: 'Why <b>?' })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'queued', looked_at: { runs: 1, left_out: [] } },
    })
    expect(body.findings[0]).toMatchObject({
      code: 'node_module_not_found',
      severity: 'error',
      agent_run_id: run.id,
      seq,
      exit_code: 1,
    })
    expect(body.findings[0].url).toBe(`${run.web_url}#e${seq}`)
    expect(logs[seq - 1].tool_output.output).toContain(body.findings[0].excerpt.split('\n').at(-1))
    const { items } = (await app.call('GET', app.at(`/sandboxes?agent_run_id=${run.id}`))).body
    expect(body.findings[0].sandbox_id).toBe(items.find((one: any) => one.kind === 'agent').id)
    const check = body.findings.find((one: any) => one.code === 'failing_tests')
    expect(check).toMatchObject({
      tests: [{ name: 'counts', location: null }],
      sandbox_id: items.find((one: any) => one.kind === 'check').id,
    })
    expect(body.message).toContain('left-pad-zz')

    const ended = await awaitEnd(app, body.agent_run_id)
    expect(ended).toMatchObject({
      status: 'completed',
      source_type: 'LOG_ANALYSIS',
      github_pull_requests: [],
    })
    expect(ended.result).toContain(
      `The module is missing ([#${seq}](${run.web_url}#e${seq})), see #998 (there is no such entry).`,
    )
    expect(ended.result).toContain('Left out, because there are no such entries: #999')
    expect(ended.result).toContain(body.message)
    expect(app.lastMessages()).toHaveLength(calls_before + 1)
    expect(app.lastMessages().at(-1)).toContain('left-pad-zz')
    const trace = await allLogs(app, body.agent_run_id)
    expect(trace.map(entry => entry.tool_name ?? entry.message_type)).toEqual([
      'USER_MESSAGE',
      'AGENT_RUN_LINK',
      'log_analysis',
      'FINAL_ANSWER',
    ])
    expect(trace[0].observation).toMatchObject({ text: 'Why <b>?', source_type: 'API' })
    expect(trace[1].observation).toMatchObject({ relation: 'analysis', agent_run_id: run.id })
    expect(trace[2].tool_output.findings).toEqual(body.findings)
    expect((await allLogs(app, run.id)).map(entry => entry.message_type)).not.toContain('AGENT_RUN_LINK')
    const related = (await app.call('GET', app.at(`/agent/run/${run.id}/related`))).body.items
    expect(related).toMatchObject([{ id: body.agent_run_id, relation: 'analysis', parent_run_id: run.id }])
  })

  test('200: without a response of a model, or without a model, the findings are the result', async () => {
    app.script = [{ text: 'I would rather talk.' }]
    const silent = (await analyzeRun(run.id)).body
    expect((await awaitEnd(app, silent.agent_run_id)).result).toMatch(/^A module is not found: left-pad-zz\./)
    await app.call('PATCH', app.at(''), { default_model: 'scripted/playbook' })
    const requested = app.lastMessages().length
    const without = (await analyzeRun(run.id)).body
    const ended = await awaitEnd(app, without.agent_run_id)
    expect(ended).toMatchObject({ status: 'completed', model: 'scripted/playbook' })
    expect(ended.result.startsWith(without.message)).toBe(true)
    expect(app.lastMessages()).toHaveLength(requested)
  })

  test('400: names the field', async () => {
    expectProblem(await analyzeRun(run.id, { prompt: '' }), 400, 'body.prompt')
    expectProblem(await analyzeRun(other.run_id), 404)
  })
})

describe('analyzeSandboxLogs', () => {
  test('200: without a body and a Content-Type, as published clients send it, and only for this sandbox', async () => {
    const { items } = (await app.call('GET', app.at(`/sandboxes?agent_run_id=${run.id}`))).body
    const of = async (kind: string) =>
      (await post(`/sandbox/${items.find((one: any) => one.kind === kind).id}/analyze-logs`)).body
    const [agent, check] = [await of('agent'), await of('check')]
    expect(agent.findings.map((one: any) => one.code)).toContain('node_module_not_found')
    expect(agent.findings.map((one: any) => one.code)).not.toContain('failing_tests')
    expect(check.findings.map((one: any) => one.code)).toEqual(['failing_tests', 'command_failed'])
    expect((await awaitEnd(app, check.agent_run_id)).status).toBe('completed')
  })

  test('400: it has no entries', async () => {
    const id = await addSandbox(app.db, { organization_id: app.org_id, run_id: run.id })
    await rows(app, 'update sandboxes set last_seq = 1 where id = $1', [id])
    expectProblem(await post(`/sandbox/${id}/analyze-logs`), 400, 'path.sandbox_id')
    await rows(app, 'delete from sandboxes where id = $1', [id])
  })

  test("404: a nonexistent one, and another organization's", async () => {
    const [never, foreign] = [
      await post('/sandbox/424242/analyze-logs'),
      await post(`/sandbox/${other.sandbox_id}/analyze-logs`),
    ]
    expectProblem(never, 404)
    expect([foreign.status, foreign.body.detail]).toEqual([never.status, never.body.detail])
  })
})

describe('analyzeLogs', () => {
  test('200: the same failure of several runs is one finding, of the last day by default, and of no analysis', async () => {
    await app.call('PATCH', app.at(''), { default_model: 'openai-compatible/fake' })
    const again = await fail()
    await app.call('PATCH', app.at(''), { default_model: 'scripted/playbook' })
    const { status, body } = await post('/sandboxes/analyze-logs')
    expect({ status, looked_at: body.looked_at }).toMatchObject({
      status: 200,
      looked_at: { runs: 2, left_out: [] },
    })
    const [first] = body.findings
    expect(first).toMatchObject({
      code: 'node_module_not_found',
      agent_run_id: again.run.id,
      agent_run_ids: [run.id],
      count: 2,
    })
    expect(first.message).toMatch(/\(in 2 runs\)$/)
    const ended = await awaitEnd(app, body.agent_run_id)
    expect(ended).toMatchObject({ status: 'completed', source_type: 'LOG_ANALYSIS' })
    const of_one = await post('/sandboxes/analyze-logs', {
      repo_id: app.repo_id,
      from: new Date(Date.now() - 3_600_000).toISOString(),
    })
    expect(of_one.body.looked_at.runs).toBe(2)
  })

  test('400: names the field, also if there is nothing to analyze', async () => {
    const wrong = async (body: object, field: string) =>
      expectProblem(await post('/sandboxes/analyze-logs', body), 400, `body.${field}`)
    await wrong({ from: 'yesterday' }, 'from')
    await wrong({ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'from')
    await wrong({ from: '2026-01-01T00:00:00Z', to: '2026-03-01T00:00:00Z' }, 'from')
    await wrong({ from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' }, 'from')
  })

  test("404: another organization's repository", async () =>
    void expectProblem(await post('/sandboxes/analyze-logs', { repo_id: other.repo_id }), 404))

  test('402: the quota of the organization also limits analyses', async () => {
    await app.call('PATCH', app.at(''), { runs_per_month: 1 })
    expectProblem(await analyzeRun(run.id), 402)
    await app.call('PATCH', app.at(''), { runs_per_month: null })
  })
})

describe('the command line', () => {
  const cli = (args: string[]) =>
    runCli(args, { env: { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token } })

  test('agentrun analyze prints the cause and the fix, of a run and of all since then', async () => {
    const of_run = await cli(['analyze', String(run.id)])
    expect(of_run).toMatchObject({ code: 0, err: '' })
    expect(of_run.out).toMatch(
      /^A module is not found: left-pad-zz\.(?:.|\n)*\nerror {2}A module is not found: left-pad-zz\n {2}cause {2}(?:.|\n)*\n {2}fix {4}/,
    )
    expect(of_run.out).toContain(`${run.web_url}#e${seqOf(MISSING)}`)
    const of_all = await cli(['analyze', '--since', '2h', '--repo', String(app.repo_id), '--json'])
    expect(JSON.parse(of_all.out)).toMatchObject({ looked_at: { runs: 2 } })
    expect(await cli(['analyze', '--since', 'soon'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--since must be'),
    })
    expect(await cli(['analyze', '1', '--since', '1d'])).toMatchObject({ code: 2 })
  })

  test('agentrun sandboxes lists them with their usage', async () => {
    const { code, out } = await cli(['sandboxes', '--run', String(run.id), '--kind', 'agent'])
    expect({ code, lines: out.trimEnd().split('\n') }).toMatchObject({
      code: 0,
      lines: [expect.stringMatching(/^ID +RUN +KIND/), expect.stringMatching(/agent +ended .* MiB/)],
    })
    expect(await cli(['sandboxes', '--state', 'lost'])).toMatchObject({ code: 0, err: 'no sandboxes\n' })
  })
})
