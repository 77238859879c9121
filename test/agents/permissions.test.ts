// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { expectProblem } from '../api/expect-problem.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import type { CodingApp } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'
import { startProgramApp } from './program-app.ts'

const agent_type = 'program'
const hello = () => ({ text: 'Hello.' })
const resume = (app: CodingApp, agent_run_id: number, more: object) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id, ...more })
const isWaiting = (run: any) => run.status === 'waiting' || run.terminal
const waiting = { status: 'waiting', waiting_on: 'tool_approval', deadline_at: expect.any(String) }
const waitingCall = (logs: any[]) => logs.findLast(entry => entry.tool_output?.approval !== undefined)

test('under policy ask a call waits for a person without a worker, an approval is for the call that was shown, and the agent continues', async () => {
  await using app = await startProgramApp(hello, {}, { permissions: 'ask' })
  const { id } = await createRun(app, { prompt: 'do: permission touch a | say Done.', agent_type })
  expect(await awaitRun(app, id, isWaiting)).toMatchObject(waiting)
  expect(await rows(app, 'select owner from runs where id = $1', [id])).toEqual([{ owner: null }])
  const { tool_name, tool_input, tool_output } = waitingCall(await allLogs(app, id))
  expect([tool_name, tool_input]).toEqual(['execute', { title: 'touch a', command: 'touch a' }])
  expect(tool_output).toMatchObject({
    status: 'interrupted',
    approval: expect.stringMatching(/^[0-9a-f]{40}$/),
  })

  const other = { prompt: 'Yes.', approve: true, expected_head_sha: 'a'.repeat(40) }
  expect(expectProblem(await resume(app, id, other), 409).code).toBe('conflict')
  expect((await resume(app, id, { ...other, expected_head_sha: tool_output.approval })).status).toBe(200)
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    result: '[{"outcome":"selected","optionId":"once"}]Done.',
  })
  const audited = `select detail
    from audit_entries
    where action = 'run.call_approved' and target_id = $1`
  expect(await rows(app, audited, [String(id)])).toEqual([
    { detail: JSON.stringify({ call: tool_output.approval }) },
  ])
})

test('each other call needs an approval of its own, and a message instead of one goes to the agent', async () => {
  await using app = await startProgramApp(hello, {}, { permissions: 'ask' })
  const { id } = await createRun(app, {
    prompt: 'do: permission touch a | permission touch b | say Done.',
    agent_type,
  })
  expect(await awaitRun(app, id, isWaiting)).toMatchObject(waiting)
  const first = waitingCall(await allLogs(app, id)).tool_output.approval
  const { total_logs: logs } = (await resume(app, id, { prompt: 'Yes.', approve: true })).body
  await awaitRun(app, id, run => isWaiting(run) && run.total_logs > logs)
  const second = waitingCall(await allLogs(app, id))
  expect([second.tool_input.command, second.tool_output.approval === first]).toEqual(['touch b', false])
  expect((await resume(app, id, { prompt: 'do: say Something else.' })).status).toBe(200)
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Something else.' })
})

test('an approval permits one call: the same one waits again, in the same turn and in a later one', async () => {
  await using app = await startProgramApp(hello, {}, { permissions: 'ask' })
  const approved = async (id: number) =>
    (await rows(app, 'select approved_sha from runs where id = $1', [id]))[0]?.approved_sha
  const { id } = await createRun(app, {
    prompt: 'do: permission touch a | permission touch a | say Done.',
    agent_type,
  })
  expect(await awaitRun(app, id, isWaiting)).toMatchObject(waiting)
  const { total_logs: logs } = (await resume(app, id, { prompt: 'Yes.', approve: true })).body
  expect(await approved(id)).toMatch(/^call:[0-9a-f]{40}$/)
  // Permitted once, and then it waits again.
  expect(
    await awaitRun(app, id, run => run.terminal || (isWaiting(run) && run.total_logs > logs + 1)),
  ).toMatchObject(waiting)
  expect(await approved(id)).toBeNull()
  // An approval that is not used ends with its turn.
  await rows(app, 'update runs set approved_sha = $2 where id = $1', [id, `call:${'a'.repeat(40)}`])
  await resume(app, id, { prompt: 'do: say Never mind.' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Never mind.' })
  expect(await approved(id)).toBeNull()
  const later = (await resume(app, id, { prompt: 'do: permission touch a' })).body
  expect(await awaitRun(app, id, run => isWaiting(run) && run.total_logs > later.total_logs)).toMatchObject(
    waiting,
  )
})

test('an approval is for all that the agent states, and all of it is shown', async () => {
  await using app = await startProgramApp(hello, {}, { permissions: 'ask' })
  const content = (text: string) => [
    { type: 'content', content: { type: 'text', text } },
    { type: 'diff', path: '/workspace/a', oldText: null, newText: 'x' },
  ]
  const locations = [{ path: '/etc/passwd' }]
  const request = { title: 'Write', kind: 'edit', rawInput: { title: 'Other', n: 1 }, locations }
  const asked = (text: string, more = {}) =>
    `permission for ${JSON.stringify({ ...request, content: content(text), ...more })}`
  const prompt = `do: ${asked('one')} | ${asked('two')}`
  const { id } = await createRun(app, { prompt, agent_type })
  expect(await awaitRun(app, id, isWaiting)).toMatchObject(waiting)
  const first = waitingCall(await allLogs(app, id))
  expect(first.tool_input).toEqual({ title: 'Other', kind: 'edit', n: 1 })
  const { title, kind } = request
  expect(first.tool_output).toMatchObject({
    request: { title, kind, locations, content: content('one').slice(0, 1) },
    changed: [{ path: '/workspace/a', old: '', new: 'x' }],
  })
  const { total_logs: logs } = (await resume(app, id, { prompt: 'Yes.', approve: true })).body
  await awaitRun(app, id, run => run.terminal || (isWaiting(run) && run.total_logs > logs + 1))
  const second = waitingCall(await allLogs(app, id))
  expect(second.tool_output.request.content).toEqual(content('two').slice(0, 1))
  expect(second.tool_output.approval).not.toBe(first.tool_output.approval)
})

test('a call that cannot be shown completely gets no permission', async () => {
  await using app = await startProgramApp(hello, {}, { permissions: 'ask' })
  const { id } = await createRun(app, { prompt: 'do: permission long b', agent_type })
  expect(await awaitRun(app, id, isWaiting)).toMatchObject({
    status: 'completed',
    result: '[{"outcome":"selected","optionId":"no"}]',
  })
  const refused = (await allLogs(app, id)).find((entry: any) => entry.tool_name === 'execute')
  expect(refused.tool_output).toMatchObject({
    status: 'error',
    error: expect.stringContaining('too long to be shown'),
  })
})

test('under policy deny the agent gets no permission, and a run that nobody approves ends at its deadline', async () => {
  await using denying = await startProgramApp(hello, {}, { permissions: 'deny' })
  const { id } = await createRun(denying, { prompt: 'do: permission touch a', agent_type })
  expect(await awaitEnd(denying, id)).toMatchObject({
    status: 'completed',
    result: '[{"outcome":"selected","optionId":"no"}]',
  })

  await using asking = await startProgramApp(
    hello,
    { AGENTRUN_ANSWER_MAX_SECONDS: '1' },
    { permissions: 'ask' },
  )
  const late = await createRun(asking, { prompt: 'do: permission touch a', agent_type })
  expect(await awaitEnd(asking, late.id)).toMatchObject({ status: 'failed', status_reason: 'timeout' })
})

test('an organization makes the policy of an agent stricter from the next turn on, and never less strict', async () => {
  await using app = await startProgramApp(hello)
  const path = `/v1/organizations/${app.org_id}`
  const set = async (of: CodingApp, agent_permissions: string | null) =>
    expect((await of.call('PATCH', `/v1/organizations/${of.org_id}`, { agent_permissions })).status).toBe(200)
  const shown = async () =>
    (await app.call('GET', `${path}/agents`)).body.agents.find(
      (agent: any) => agent.agent_type === agent_type,
    )
  const { id } = await createRun(app, { prompt: 'do: permission touch a', agent_type })
  expect(await awaitEnd(app, id)).toMatchObject({ result: '[{"outcome":"selected","optionId":"once"}]' })
  expect((await shown()).permissions).toBe('allow')

  await set(app, 'ask')
  expect((await shown()).permissions).toBe('ask')
  const { total_logs } = (await resume(app, id, { prompt: 'do: permission touch b' })).body
  expect(await awaitRun(app, id, run => isWaiting(run) && run.total_logs > total_logs)).toMatchObject(waiting)
  await set(app, 'deny')
  await resume(app, id, { prompt: 'do: permission touch c' })
  expect(await awaitEnd(app, id)).toMatchObject({ result: '[{"outcome":"selected","optionId":"no"}]' })

  await using denying = await startProgramApp(hello, {}, { permissions: 'deny' })
  await set(denying, 'allow')
  const denied = await createRun(denying, { prompt: 'do: permission touch a', agent_type })
  expect(await awaitEnd(denying, denied.id)).toMatchObject({
    result: '[{"outcome":"selected","optionId":"no"}]',
  })
})
