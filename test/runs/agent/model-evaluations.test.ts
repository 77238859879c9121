import { expect, test } from 'vitest'
import type { FakeReply, FakeScript, SeenRequest } from '../../model/fake-server.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, makeRepository, PRICED, shell, startCodingApp } from '../coding-app.ts'
import { startCluster } from '../recovery/cluster.ts'

type Question = 'commit_verdict' | 'pull_request_verdict' | 'pull_request_words'
const on = { AGENTRUN_MODEL_EVALUATIONS: '1' }

function toolsOf({ body }: SeenRequest): string[] {
  // Chat completions and responses name their tools differently.
  return (body.tools as { name?: string; function?: { name: string } }[]).map(tool => tool.function?.name ?? tool.name ?? '')
}
const isQuestion = (request: SeenRequest) => toolsOf(request).length === 1

/** One model for both: `agent` responds in order, `reviewer` by question and how often it was called. */
function both(
  agent: FakeReply[],
  reviewer: (question: Question, n_calls: number, request: SeenRequest) => FakeReply | Promise<FakeReply>,
): FakeScript {
  const calls_of = new Map<string, number>()
  let n = 0
  return request => {
    if (!isQuestion(request)) return agent[n++] ?? { text: 'There is nothing more in this script.' }
    const [question] = toolsOf(request) as [Question]
    calls_of.set(question, (calls_of.get(question) ?? 0) + 1)
    return reviewer(question, calls_of.get(question) ?? 0, request)
  }
}
const verdict = (name: Question, given: string, ...findings: object[]) => calls({ name, arguments: { verdict: given, findings } })
const evaluations = async (app: CodingApp, id: number) =>
  (await allLogs(app, id))
    .filter(entry => /_EVALUATION$/.test(entry.message_type) && entry.message_type !== 'PLAN_EVALUATION')
    .map(({ message_type, observation: { verdict, findings, evaluated_by } }) => ({
      message_type,
      verdict,
      evaluated_by,
      bodies: findings.map((finding: { body: string }) => finding.body),
    }))
const prOf = async (app: CodingApp, id: number) =>
  (await app.call('GET', `/v1/organizations/${app.org_id}/prs?agent_run_id=${id}`)).body.items[0]

test('the model reviews the commits, its findings go back to the agent, it writes the text of the pull request, and decides when it is ready for review', async () => {
  const weak = { path: 'count.js', line: 2, severity: 'error', body: 'Two is not exported.' }
  const words = { title: 'Count to two', body: 'Exports `two`.\n\nNot tested.' }
  const script = both(
    [
      calls(shell('echo "const two = 2" >> count.js')),
      { text: 'Done.' },
      calls(shell('echo "export { two }" >> count.js')),
      { text: 'Exported.' },
    ],
    (question, n_calls) => {
      if (question === 'pull_request_words') return calls({ name: question, arguments: words })
      return question === 'commit_verdict' && n_calls === 1 ? verdict(question, 'fail', weak) : verdict(question, 'pass')
    },
  )
  const repository = makeRepository({ 'count.js': 'export const one = 1\n', 'pull_request_template.md': '## What\n' })
  await using app = await startCodingApp(script, on, repository)
  const { id } = await createRun(app, { prompt: 'Add two', model: PRICED.model })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'completed',
    result: 'Exported.',
    github_pull_requests: [{ number: 1, state: 'open', title: 'Count to two' }],
  })
  expect((await prOf(app, id)).body).toBe(`${words.body}\n\n---\nMade by an agent run: ${run.web_url}`)
  expect(await evaluations(app, id)).toEqual([
    {
      message_type: 'COMMIT_EVALUATION',
      verdict: 'fail',
      evaluated_by: PRICED.model,
      bodies: expect.arrayContaining([weak.body]),
    },
    { message_type: 'COMMIT_EVALUATION', verdict: 'pass', evaluated_by: PRICED.model, bodies: expect.any(Array) },
    { message_type: 'PR_EVALUATION', verdict: 'pass', evaluated_by: PRICED.model, bodies: expect.any(Array) },
  ])
  const [agents, questions] = [app.model.requests.filter(request => !isQuestion(request)), app.model.requests.filter(isQuestion)]
  expect(JSON.stringify(agents.at(-1)?.body)).toContain('count.js:2: Two is not exported.')
  // The reviewer sees the task and its result, and not the reasoning of the agent.
  for (const { body } of questions) {
    const conversation = JSON.stringify(body)
    expect([
      conversation.includes('Add two'),
      conversation.includes('+const two = 2'),
      /"role":"tool"|function_call_output/.test(conversation),
    ]).toEqual([true, true, false])
  }
  expect(questions.map(request => toolsOf(request)[0])).toEqual([
    'commit_verdict',
    'commit_verdict',
    'pull_request_words',
    'pull_request_verdict',
  ])
  // Questions are no steps of the agent, but they are counted.
  expect(await rows(app, 'select steps from runs where id = $1', [id])).toEqual([{ steps: agents.length }])
  expect(run.usage).toMatchObject({ input_tokens: 100 * app.model.requests.length, output_tokens: 20 * app.model.requests.length })
})

test.each<[string, FakeReply]>([
  ['words instead of a call', { text: 'Looks good to me.' }],
  ['another verdict', verdict('commit_verdict', 'maybe')],
  ['a failure without a reason', verdict('commit_verdict', 'fail')],
  ['arguments that are no object', calls({ name: 'commit_verdict', arguments: '[1' })],
  ['a server error', { status: 500, body: { error: { message: 'down' } } }],
])('an answer that cannot be used, %s, is inconclusive and blocks nothing', async (_, reply) => {
  const script = both([calls(shell('echo two >> count.js')), { text: 'Done.' }], question =>
    question === 'commit_verdict' ? reply : question === 'pull_request_verdict' ? verdict(question, 'pass') : { text: '' },
  )
  await using app = await startCodingApp(script, on)
  const { id } = await createRun(app, { prompt: 'Add two' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', github_pull_requests: [{ state: 'open', title: 'Add two' }] })
  expect((await evaluations(app, id)).map(({ verdict }) => verdict)).toEqual(['inconclusive', 'pass'])
})

test('a pull request that the model rejects stays a draft; a title that the user set is kept', async () => {
  const script = both([calls(shell('echo two >> count.js')), { text: 'Done.' }], question => {
    if (question === 'pull_request_words') return calls({ name: question, arguments: { title: 'Something else', body: 'Because.' } })
    return question === 'commit_verdict'
      ? verdict(question, 'pass')
      : verdict(question, 'fail', { severity: 'warning', body: 'It says nothing.' })
  })
  await using app = await startCodingApp(script, on)
  const { id } = await createRun(app, { prompt: 'Add two', title: 'My title' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', github_pull_requests: [{ state: 'draft', title: 'My title' }] })
  expect((await evaluations(app, id)).at(-1)).toMatchObject({ verdict: 'fail', bodies: expect.arrayContaining(['It says nothing.']) })
})

test('a playbook contains its verdicts, and without a verdict no model is called', async () => {
  const playbook = (...lines: string[]) =>
    `Play it.\n\n\`\`\`playbook\n- run: echo two >> count.js\n- answer: Done.\n${lines.join('\n')}\n\`\`\`\n`
  await using app = await startCodingApp(() => ({ text: '' }), on)
  const run = async (prompt: string) => {
    const { id } = await createRun(app, { prompt, model: 'scripted/playbook' })
    const { github_pull_requests } = await awaitEnd(app, id)
    return {
      state: github_pull_requests[0].state,
      verdicts: (await evaluations(app, id)).map(({ verdict, evaluated_by }) => [verdict, evaluated_by]),
    }
  }
  const model = 'scripted/playbook'
  expect(await run(playbook())).toEqual({
    state: 'open',
    verdicts: [
      ['pass', null],
      ['pass', null],
    ],
  })
  const pr = playbook('- evaluate_commit: {verdict: approve}', '- evaluate_pr: {verdict: reject, findings: [{body: Not good.}]}')
  expect(await run(pr)).toEqual({
    state: 'draft',
    verdicts: [
      ['pass', model],
      ['fail', model],
    ],
  })
})

test('a question whose response is lost with its worker is repeated and both are counted, and a completed one is not repeated', async () => {
  const lost = Promise.withResolvers<void>()
  const script = both([calls(shell('echo two >> count.js')), { text: 'Done.' }], async (question, n_calls) => {
    if (question === 'pull_request_words') return calls({ name: question, arguments: { title: 'Asked twice', body: 'Because.' } })
    if (question === 'pull_request_verdict' && n_calls === 1) {
      lost.resolve()
      return { stall: 'before_body' }
    }
    return verdict(question, 'pass')
  })
  await using cluster = await startCluster(script, on)
  const worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'Add two', model: PRICED.model })
  await lost.promise
  worker.child.kill('SIGKILL')
  await worker.ended
  await cluster.start('work', worker.data_dir)
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run).toMatchObject({ status: 'completed', github_pull_requests: [{ state: 'open', title: 'Asked twice' }] })
  expect(cluster.model.requests.filter(isQuestion).map(request => toolsOf(request)[0])).toEqual([
    'commit_verdict',
    'pull_request_words',
    'pull_request_verdict',
    'pull_request_verdict',
  ])
  const [{ reserved_usd, output_tokens } = { reserved_usd: '', output_tokens: 0 }] = await cluster.rows<{
    reserved_usd: string
    output_tokens: number
  }>('select reserved_usd, output_tokens from runs where id = $1', [id])
  expect(Number(reserved_usd)).toBe(0)
  // An unknown cost is counted as its reservation.
  expect(output_tokens).toBeGreaterThan(4_000)
}, 90_000)

test('a run without budget for an evaluation uses the rules', async () => {
  const long = { text: 'Done.', usage: { input: 100, output: 10_000 } }
  const script = both([calls(shell('echo two >> count.js')), long], question =>
    verdict(question, 'fail', { severity: 'error', body: 'No.' }),
  )
  await using app = await startCodingApp(script, on)
  // The last answer uses nearly all of the budget.
  const { id } = await createRun(app, { prompt: 'Add two', model: PRICED.model, budget: { max_cost_usd: '0.05' } })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', github_pull_requests: [{ state: 'open' }] })
  expect(app.model.requests.filter(isQuestion)).toEqual([])
  expect((await evaluations(app, id)).map(({ evaluated_by }) => evaluated_by)).toEqual([null, null])
})
