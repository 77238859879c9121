// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { type CodingApp, PRICED } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'
import { bash, opencodeScript, startOpencodeApp, write } from './opencode.ts'

const agent_type = 'opencode'
const TIMEOUT_MS = 120_000
const actions = (logs: any[], name: string) => logs.filter(entry => entry.message_type === 'ACTION' && entry.tool_name === name)
const resume = (app: CodingApp, agent_run_id: number, more: object) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id, ...more })

/** Searches variables, files, and the memory of every process that a command may read for the key of the model. The pattern does not match itself. */
const SEARCH = `cat >/tmp/search.cjs <<'END'
const { openSync, readFileSync, readSync, readdirSync } = require('node:fs')
const found = []
for (const pid of readdirSync('/proc').filter(name => /^[0-9]+$/.test(name))) {
  try {
    if (/[k]ey-of-the-model/.test(readFileSync('/proc/' + pid + '/environ', 'latin1'))) found.push(pid + ' environ')
    const memory = openSync('/proc/' + pid + '/mem', 'r')
    for (const [, from, to] of readFileSync('/proc/' + pid + '/maps', 'utf8').matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)) {
      const bytes = Buffer.alloc(Math.min(parseInt(to, 16) - parseInt(from, 16), 64 * 1024 * 1024))
      try { readSync(memory, bytes, 0, bytes.length, parseInt(from, 16)) } catch { continue }
      if (/[k]ey-of-the-model/.test(bytes.toString('latin1'))) found.push(pid + ' memory')
    }
    found.push('searched')
  } catch {}
}
console.log([...new Set(found)].join(' '))
END
node /tmp/search.cjs; grep -rlaE '[k]ey-of-the-model' /home /workspace /tmp /run /etc 2>/dev/null | wc -l`

test(
  'OpenCode works on a run in its sandbox up to a pull request: its calls are metered, its tools are in the trace, and the key of the model is not in its sandbox',
  async () => {
    const script = opencodeScript([
      () => ({ text: 'I look first.', tool_calls: [bash(`cat count.js; ${SEARCH}`)] }),
      () => ({ tool_calls: [write('two.js', 'export const two = 2\n')] }),
      () => ({ tool_calls: [bash('exit 3')] }),
      () => ({ text: 'I added two.js.' }),
    ])
    await using app = await startOpencodeApp(script)
    const created = await createRun(app, { prompt: 'Add two.js.', agent_type })
    const run = await awaitEnd(app, created.id)
    const logs = await allLogs(app, created.id)
    expect(run, JSON.stringify(logs.slice(-3))).toMatchObject({ status: 'completed', result: 'I added two.js.', agent_type })
    expect(run.github_pull_requests).toMatchObject([{ state: 'open', files_changed: 1 }])
    const [look, failed] = actions(logs, 'bash')
    expect(look).toMatchObject({ thought: 'I look first.', tool_input: { command: expect.stringContaining('cat count.js') } })
    expect(look.tool_output.output).toBe('export const one = 1\nsearched\n0\n')
    expect(failed.tool_output.exit_code).toBe(3)
    expect(actions(logs, 'write')).toMatchObject([{ tool_output: { status: 'ok' } }])
    // Each call is a step, that for the title too; the fake model reports 100 and 20 tokens for each.
    const sent = app.model.requests.length
    expect(run.usage).toMatchObject({ input_tokens: 100 * sent, output_tokens: 20 * sent })
    expect(app.model.requests.every(({ headers }) => headers.authorization === 'Bearer key-of-the-model-server')).toBe(true)
    const journal = await rows<{ kind: string }>(app, 'select kind from journal where run_id = $1 order by n', [created.id])
    const count = (kind: string) => journal.filter(row => row.kind === kind).length
    expect([count('model_started'), count('model_answered')]).toEqual([sent, sent])
    expect([count('tool_started'), count('tool_finished')]).toEqual([3, 4])
  },
  TIMEOUT_MS,
)

test(
  'a follow-up continues with the conversation as text, and checks that fail go back to the same agent',
  async () => {
    const prompts: string[] = []
    const script = opencodeScript([
      request => {
        const messages = request.body.messages as any[]
        prompts.push(JSON.stringify(messages.filter(({ role }) => role === 'user').at(-1)))
        return { tool_calls: [bash('echo more >>notes.txt')] }
      },
      () => ({ text: 'I wrote notes.' }),
    ])
    await using app = await startOpencodeApp(script)
    const checks = [{ name: 'lines', command: 'test "$(wc -l <notes.txt)" -ge 2 || { echo "notes are too short"; exit 1; }' }]
    expect(await app.call('PUT', `/v1/organizations/${app.org_id}/repos/${app.repo_id}/checks`, { checks })).toMatchObject({
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
    for (const part of ['The conversation so far', 'Write notes.', 'I wrote notes.', 'Write one more line.'])
      expect(prompts[2]).toContain(part)
  },
  TIMEOUT_MS,
)

test(
  'a budget pauses a run of OpenCode before a call that does not fit, and a stop ends it in the middle of a command',
  async () => {
    const script = opencodeScript([() => ({ tool_calls: [bash('echo one')] }), () => ({ tool_calls: [bash('echo started; sleep 600')] })])
    await using app = await startOpencodeApp(script)
    const model = PRICED.model
    const paused = await createRun(app, { prompt: 'x', agent_type, model, budget: { max_cost_usd: '0.001' } })
    const run = await awaitRun(app, paused.id, ({ status }) => status === 'paused')
    expect(run).toMatchObject({ status_reason: 'budget', usage: { cost_usd: '0' } })
    expect(app.model.requests).toEqual([])

    const { id } = await createRun(app, { prompt: 'x', agent_type, budget: { max_steps: 3 } })
    expect(await awaitRun(app, id, ({ status }) => status === 'paused' || status === 'running')).toBeTruthy()
    await expect
      .poll(async () => (await rows(app, "select 1 from journal where run_id = $1 and kind = 'tool_started'", [id])).length, {
        timeout: 30_000,
      })
      .toBe(2)
    expect((await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })).status).toBe(200)
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'cancelled' })
  },
  TIMEOUT_MS,
)

test('an agent that is not registered, and a model that it cannot call, are refused with the field', async () => {
  await using app = await startOpencodeApp(opencodeScript([]))
  const create = (body: object) => app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, { prompt: 'x', ...body })
  const unknown = await create({ agent_type: 'gemini' })
  expect(unknown).toMatchObject({ status: 400, body: { errors: [{ loc: ['body', 'agent_type'] }] } })
  expect(unknown.body.detail).toContain('available: built_in, opencode')
  expect(await create({ agent_type, model: 'scripted/playbook' })).toMatchObject({
    status: 400,
    body: { errors: [{ loc: ['body', 'model'] }] },
  })
})
