import { expect, test } from 'vitest'
import type { SeenRequest } from '../../model/fake-server.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../coding-app.ts'
import { isSummaryRequest, messagesOf, orphansOf, tokensOf, windowed } from './windowed-model.ts'

const LIMIT = 16_000
const env = { AGENTRUN_COMPACT_TOKENS: String(LIMIT) }
const PROMPT = 'Print, print and print again, and keep this sentence.'
const print = (n: number, chars = 6_000) =>
  calls(shell(`printf '${n}-%.0s' $(seq ${Math.round(chars / (String(n).length + 1))})`))

/** A call that is long itself, so that clearing results does not help. */
const talk = (n: number) => calls(shell(`echo ${n} # ${'x'.repeat(6_000)}`))

const compactions = async (app: CodingApp, id: number) =>
  (await allLogs(app, id)).filter(entry => entry.tool_name === 'context_compacted')
const post = (app: CodingApp, action: string, body: object) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/${action}`, body)

/** The requests for steps, each with whether its conversation only grew since the one before. */
const steps = (requests: SeenRequest[]) => requests.filter(request => !isSummaryRequest(request))
function growths(requests: SeenRequest[]): boolean[] {
  const texts = steps(requests).map(request => messagesOf(request).map(message => JSON.stringify(message)))
  return texts.slice(1).map((now, i) => (texts[i] ?? []).every((message, at) => message === now[at]))
}

test('a conversation at its limit is compacted before the call: old results first, then by a summary, and nothing of the person is lost', async () => {
  const STEPS = 24
  let step = 0
  await using app = await startCodingApp(
    windowed(LIMIT * 1.25, request => {
      if (isSummaryRequest(request)) return { text: 'Goal: print. Next: print more.' }
      if (step++ === STEPS) return { text: 'Printed.' }
      return step > 14 ? talk(step) : print(step)
    }),
    env,
  )
  const { id } = await createRun(app, { prompt: PROMPT, auto_create_pr: false })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Printed.' })
  const { requests } = app.model
  for (const request of requests) {
    if (!isSummaryRequest(request)) expect(tokensOf(request)).toBeLessThan(LIMIT * 1.1)
    expect(JSON.stringify(messagesOf(request)[1])).toContain(PROMPT)
    expect(orphansOf(request)).toEqual([])
  }
  // A summary replaces the result with the installed programs, so the next result has them again.
  let steps_since_summary = 0
  for (const request of requests) {
    steps_since_summary = isSummaryRequest(request) ? 0 : steps_since_summary + 1
    if (steps_since_summary > 1) expect(JSON.stringify(messagesOf(request))).toContain('Installed programs')
  }
  const entries = await compactions(app, id)
  expect(new Set(entries.map(entry => entry.tool_output.how))).toEqual(new Set(['cleared', 'summarized']))
  // The cached prefix is given up for compactions only.
  expect(growths(requests).filter(grew => !grew)).toHaveLength(entries.length)
  const summarized = entries.filter(entry => entry.tool_output.how === 'summarized')
  expect(requests.filter(isSummaryRequest)).toHaveLength(summarized.length)
  expect(summarized[0].tool_output).toMatchObject({
    summary: 'Goal: print. Next: print more.',
    summarized_by: 'model',
  })
  expect(
    requests.filter(request => JSON.stringify(request.body).includes('Next: print more')).length,
  ).toBeGreaterThan(0)
  expect(
    (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body.usage.input_tokens,
  ).toBe(requests.reduce((sum, request) => sum + tokensOf(request), 0))
  const { from_seq, through_seq } = entries[0].tool_output.replaced
  const { body } = await app.call(
    'GET',
    `/v1/organizations/${app.org_id}/agent/run/${id}/logs?after_seq=${from_seq - 1}&before_seq=${through_seq + 1}`,
  )
  expect(body.logs.map((entry: { tool_name: string }) => entry.tool_name)).toContain('shell')
  expect(body.logs[0].tool_output.output).toMatch(/^1-1-1-/)
})

test('the results of parallel calls are read by the model, in part if all together are too long', async () => {
  let step = 0
  await using app = await startCodingApp(
    windowed(LIMIT * 1.25, request => {
      if (isSummaryRequest(request)) return { text: 'SUMMARY' }
      return step++ < 4
        ? calls(
            ...[1, 2, 3, 4, 5, 6].map(n => shell(`echo ${step}.${n} start; seq 3000; echo ${step}.${n} end`)),
          )
        : { text: 'Done.' }
    }),
    env,
  )
  const { id } = await createRun(app, { prompt: PROMPT, auto_create_pr: false })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.' })
  for (const [i, request] of steps(app.model.requests).slice(1, 5).entries()) {
    expect(tokensOf(request)).toBeLessThan(LIMIT * 1.1)
    const texts = messagesOf(request)
      .slice(-6)
      .map(({ content }) => String(content))
    const complete = texts.map(
      (text, n) =>
        text.startsWith(`${i + 1}.${n + 1} start\n1\n2\n`) &&
        text.includes(`\n3000\n${i + 1}.${n + 1} end\n`),
    )
    expect(complete).toEqual([true, true, true, true, true, true])
  }
  // What the journal rebuilds for a follow-up are the bytes that were sent.
  const last = messagesOf(app.model.requests.at(-1) as SeenRequest)
  await post(app, 'resume', { agent_run_id: id, prompt: 'Once more.' })
  await awaitEnd(app, id)
  expect(messagesOf(app.model.requests.at(-1) as SeenRequest).slice(0, last.length)).toEqual(last)
  const first = (await compactions(app, id))[0]
  expect(first.tool_output).toMatchObject({ how: 'shortened', results: 6 })
})

test('follow-ups and forks of a compacted run continue from the compacted conversation', async () => {
  let step = 0
  await using app = await startCodingApp(
    windowed(LIMIT * 1.25, request => {
      if (isSummaryRequest(request)) return { text: 'SUMMARY' }
      return step++ % 21 < 20 ? print(step) : { text: 'Printed.' }
    }),
    env,
  )
  const { id } = await createRun(app, { prompt: PROMPT, auto_create_pr: false })
  await awaitEnd(app, id)
  const last = messagesOf(app.model.requests.at(-1) as SeenRequest)
  const before = app.model.requests.length
  step = 19
  await post(app, 'resume', { agent_run_id: id, prompt: 'Once more.' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 2 })
  const resumed = messagesOf(app.model.requests[before] as SeenRequest)
  expect(JSON.stringify(resumed.slice(0, last.length)) === JSON.stringify(last)).toBe(true)
  expect(JSON.stringify(resumed.at(-1))).toContain('Once more.')
  const second = messagesOf(app.model.requests.at(-1) as SeenRequest)
  step = 19
  const forked_at = app.model.requests.length
  const { total_logs } = (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body
  const fork = await post(app, 'fork', { agent_run_id: id, from_seq: total_logs, prompt: 'Another way.' })
  expect(await awaitEnd(app, fork.body.id)).toMatchObject({ status: 'completed' })
  const forked = messagesOf(app.model.requests[forked_at] as SeenRequest)
  // The instructions name the branch of the fork.
  expect(JSON.stringify(forked.slice(1, second.length)) === JSON.stringify(second.slice(1))).toBe(true)
  expect(orphansOf(app.model.requests[forked_at] as SeenRequest)).toEqual([])
})

test('a provider that refuses a conversation earlier than expected is obeyed by the same mechanism, and the limit is kept', async () => {
  const WINDOW = 20_000
  let step = 0
  await using app = await startCodingApp(
    windowed(WINDOW, request => {
      if (isSummaryRequest(request)) return { text: 'SUMMARY' }
      return step++ < 20 ? print(step, 9_000) : { text: 'Printed.' }
    }),
  )
  const { id } = await createRun(app, { prompt: PROMPT, auto_create_pr: false })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Printed.' })
  const entries = await compactions(app, id)
  expect(entries[0].tool_input).toMatchObject({ cause: 'refused' })
  expect(entries.length).toBeGreaterThan(1)
  // The adapter may repeat a request that it learned from.
  expect(app.model.requests.filter(request => tokensOf(request) > WINDOW).length).toBeLessThanOrEqual(2)
})

test('a conversation that is refused however short it is ends the run as out_of_tokens', async () => {
  await using app = await startCodingApp((_request, n) =>
    n < 3 ? print(n) : windowed(0, () => ({ text: '' }))(_request, n),
  )
  const { id } = await createRun(app, { prompt: PROMPT })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'failed', status_reason: 'out_of_tokens' })
  expect(app.model.requests.length).toBeLessThan(8)
  for (const request of app.model.requests) expect(orphansOf(request)).toEqual([])
})

test.each([
  ['calls a tool', () => print(1)],
  ['gives nothing', () => ({ text: '' })],
])('a model that %s instead of a summary gets one by the service', async (_name, reply) => {
  let step = 0
  await using app = await startCodingApp(
    windowed(LIMIT * 1.25, request => {
      if (isSummaryRequest(request)) return reply()
      return step++ < 14 ? talk(step) : { text: 'Done.' }
    }),
    env,
  )
  const { id } = await createRun(app, { prompt: PROMPT, auto_create_pr: false })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.' })
  const [entry] = await compactions(app, id)
  expect(entry.tool_output).toMatchObject({
    how: 'summarized',
    summarized_by: 'service',
    summary: expect.stringContaining('echo 1 '),
  })
})

test('a summary that the budget does not pay for pauses the run before the call, and the run continues after a top-up', async () => {
  let step = 0
  await using app = await startCodingApp(
    windowed(LIMIT * 1.25, request => {
      if (isSummaryRequest(request)) return { text: 'SUMMARY' }
      return step++ < 14 ? talk(step) : { text: 'Done.' }
    }),
    env,
  )
  const { id } = await createRun(app, { prompt: PROMPT, auto_create_pr: false, budget: { max_steps: 1_000 } })
  await awaitEnd(app, id)
  const until_summary = app.model.requests.findIndex(isSummaryRequest)
  step = 0
  const other = await createRun(app, {
    prompt: PROMPT,
    auto_create_pr: false,
    budget: { max_steps: until_summary },
  })
  await awaitRun(app, other.id, run => run.status === 'paused')
  expect(await compactions(app, other.id)).toEqual([])
  await post(app, 'resume', { agent_run_id: other.id, prompt: 'Go on.', budget: { max_steps: 1_000 } })
  expect(await awaitEnd(app, other.id)).toMatchObject({ status: 'completed' })
  expect((await compactions(app, other.id)).length).toBeGreaterThan(0)
})
