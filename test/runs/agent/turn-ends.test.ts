import { expect, test } from 'vitest'
import { chatEvents } from '../../model/fake-openai.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, PRICED, responses, shell, startCodingApp } from '../coding-app.ts'

const START = "I'll start by looking at the files."
const REQUEST = 'Continue, or call finish'

test('text before any tool call does not end the run: the agent is prompted once to continue or to finish, and the text stays in the trace', async () => {
  await using app = await startCodingApp(responses({ text: START }, calls(shell('ls')), { text: 'Done.' }))
  const { id } = await createRun(app, { prompt: 'look' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.' })
  expect(app.model.requests.map(({ body }) => JSON.stringify(body).split(REQUEST).length - 1)).toEqual([
    0, 1, 1,
  ])
  const plans = (await allLogs(app, id)).filter(entry => entry.message_type === 'PLAN_EVALUATION')
  expect(plans).toMatchObject([{ thought: START }])
})

test('text again is the answer, in a follow-up too', async () => {
  await using app = await startCodingApp((_request, n) => ({ text: `Answer ${n}.` }))
  const { id } = await createRun(app, { prompt: 'what is this?' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Answer 1.' })
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'and that?',
  })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 2, result: 'Answer 3.' })
})

test('commentary between calls does not end the run, twice in a row it does', async () => {
  const commentary = { text: 'Now I fix it.', phase: 'commentary' as const }
  await using app = await startCodingApp(
    responses(calls(shell('echo 1')), commentary, calls(shell('echo 2')), commentary, {
      ...commentary,
      text: 'Fixed.',
    }),
  )
  const { id } = await createRun(app, { prompt: 'fix', model: PRICED.model })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Fixed.' })
  expect(app.model.requests).toHaveLength(5)
})

test('a call that the output limit cut off is reported as cut off, with what to do', async () => {
  const cut = {
    ...calls({ name: 'write', arguments: '{"path": "a.txt", "content": "aaa' }),
    finish: 'length' as const,
  }
  await using app = await startCodingApp(
    responses({ ...cut, usage: { input: 100, output: 32_000 } }, { text: 'I see.' }),
  )
  const { id } = await createRun(app, { prompt: 'write' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  const next_request = JSON.stringify(app.model.requests[1]?.body)
  expect(next_request).toContain('cut off at 32000 tokens')
  expect(next_request).toContain('Write the file in parts')
  expect(next_request).not.toContain('not valid JSON')
  const errors = (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR')
  expect(errors).toMatchObject([{ tool_name: 'write', observation: { code: 'cut_off' } }])
})

test('text that the output limit cut off is continued, and the agent gets its length', async () => {
  await using app = await startCodingApp(
    responses(
      calls(shell('ls')),
      { text: 'First I', finish: 'length', usage: { input: 100, output: 777 } },
      { text: 'Done.' },
    ),
  )
  const { id } = await createRun(app, { prompt: 'look' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.' })
  expect(JSON.stringify(app.model.requests[2]?.body)).toContain('cut off at 777 tokens')
})

test('text that ended for an unknown reason is no answer: the agent continues or finishes, and the trace names the reason', async () => {
  await using app = await startCodingApp((_request, n) => {
    if (n === 0) return calls(shell('ls'))
    if (n > 1) return { text: 'I have fixed the first test.' }
    return {
      raw: [...chatEvents({ text: 'I have fixed the fir' }, { n })].map(event =>
        event.replace('"stop"', '"weird"'),
      ),
    }
  })
  const { id } = await createRun(app, { prompt: 'fix' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    result: 'I have fixed the first test.',
  })
  const errors = (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR')
  expect(errors).toMatchObject([
    { observation: { code: 'empty_answer', message: expect.stringContaining('"weird"') } },
  ])
  expect(JSON.stringify(app.model.requests[2]?.body)).toContain('may be cut off')
})

test('arguments of 2 MB are refused with a clear error, and are neither sent back nor kept', async () => {
  const huge = calls({ name: 'write', arguments: { path: 'a.txt', content: 'x'.repeat(2_000_000) } })
  await using app = await startCodingApp(responses({ ...huge, split: 100_000 }, { text: 'I see.' }))
  const { id } = await createRun(app, { prompt: 'write' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  const next_request = JSON.stringify(app.model.requests[1]?.body)
  expect(next_request).toContain('Write a large file in parts')
  expect(next_request.length).toBeLessThan(100_000)
})

test('two calls in turn with the same results are a cycle, which is warned of and ends the run', async () => {
  await using app = await startCodingApp((_request, n) => calls(shell(n % 2 === 0 ? 'echo a' : 'echo b')))
  const { id } = await createRun(app, { prompt: 'loop' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'failed', error: { code: 'repeated_call' } })
  expect(app.model.requests).toHaveLength(12)
  expect(JSON.stringify(app.model.requests.at(-1)?.body)).toContain('the same 2 calls with the same results')
})
