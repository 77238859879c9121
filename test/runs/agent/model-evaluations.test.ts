import { expect, test } from 'vitest'
import type { FakeReply, FakeScript } from '../../model/fake-server.ts'
import { rows } from '../../start-app.ts'
import { awaitEnd, createRun } from '../await-run.ts'
import { calls, finish, makeRepository, PRICED, shell, startCodingApp } from '../coding-app.ts'
import { both, evaluations, isQuestion, on, prOf, questionsOf, review, words } from './reviewer-script.ts'

const work = [calls(shell('echo two >> count.js')), finish('Done.')]

test('a success takes one review: it passes the commits, writes the text of the new pull request and opens it', async () => {
  const repository = makeRepository({
    'count.js': 'export const one = 1\n',
    'pull_request_template.md': '## What\n',
  })
  await using app = await startCodingApp(
    both(work, () => review('pass')),
    on,
    repository,
  )
  const { id } = await createRun(app, { prompt: 'Add two', model: PRICED.model })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ number: 1, state: 'open', title: words.title }],
  })
  expect((await prOf(app, id)).body).toBe(`${words.body}\n\n---\nCreated by an agent run: ${run.web_url}`)
  expect(questionsOf(app.model)).toEqual(['commit_verdict'])
  const by_model = { verdict: 'pass', evaluated_by: PRICED.model }
  expect(await evaluations(app, id)).toMatchObject([
    { message_type: 'COMMIT_EVALUATION', ...by_model },
    { message_type: 'PR_EVALUATION', ...by_model },
  ])
  // The reviewer sees the task, the change, the agent's answer and the template, and not the reasoning of the
  // agent.
  const { body } = app.model.requests.filter(isQuestion)[0] ?? { body: {} }
  const conversation = JSON.stringify(body)
  for (const part of ['Add two', '+two', '<answer>\\nDone.', '## What']) expect(conversation).toContain(part)
  expect(conversation).not.toMatch(/"role":"tool"|function_call_output/)
  expect(body).toMatchObject({
    model: 'gpt-5.4-mini',
    max_output_tokens: 16_000,
    reasoning: { effort: 'low' },
  })
  // Reviews are not steps of the agent, but they are counted.
  expect(await rows(app, 'select steps from runs where id = $1', [id])).toEqual([{ steps: work.length }])
  expect(run.usage).toMatchObject({
    input_tokens: 100 * app.model.requests.length,
    output_tokens: 20 * app.model.requests.length,
  })
})

test('findings go back to the agent, and the next commits are reviewed once', async () => {
  const weak = { path: 'count.js', line: 2, severity: 'error', body: 'Two is not exported.' }
  const script = both(
    [...work, calls(shell('echo "export { two }" >> count.js')), finish('Exported.')],
    n_calls => (n_calls === 1 ? review('fail', [weak]) : review('pass')),
  )
  await using app = await startCodingApp(script, on)
  const { id } = await createRun(app, { prompt: 'Add two' })
  expect(await awaitEnd(app, id)).toMatchObject({
    result: 'Exported.',
    github_pull_requests: [{ state: 'open', title: words.title }],
  })
  expect(questionsOf(app.model)).toEqual(['commit_verdict', 'commit_verdict'])
  const agents = app.model.requests.filter(request => !isQuestion(request))
  expect(JSON.stringify(agents.at(-1)?.body)).toContain('count.js:2: Two is not exported.')
  expect((await evaluations(app, id)).map(({ message_type, verdict }) => [message_type, verdict])).toEqual([
    ['COMMIT_EVALUATION', 'fail'],
    ['COMMIT_EVALUATION', 'pass'],
    ['PR_EVALUATION', 'pass'],
  ])
})

test('a follow-up takes one review, which includes the text of the existing pull request', async () => {
  const outdated = { severity: 'warning', body: 'The description does not say three.' }
  const script = both([...work, calls(shell('echo three >> count.js')), finish('Done, too.')], n_calls =>
    n_calls === 1
      ? review('pass')
      : review('pass', [], { pull_request: { verdict: 'fail', findings: [outdated] } }),
  )
  await using app = await startCodingApp(script, on)
  const { id } = await createRun(app, { prompt: 'Add two' })
  await awaitEnd(app, id)
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'And three.',
  })
  // It is open for people already, so it stays open.
  expect(await awaitEnd(app, id)).toMatchObject({
    turn: 2,
    github_pull_requests: [{ number: 1, state: 'open', title: words.title }],
  })
  expect(questionsOf(app.model)).toEqual(['commit_verdict', 'commit_verdict'])
  const second = JSON.stringify(app.model.requests.filter(isQuestion)[1]?.body)
  expect([
    second.includes(`<title>\\n${words.title}`),
    second.includes('+three'),
    second.includes('+two'),
  ]).toEqual([true, true, false])
  expect((await evaluations(app, id)).slice(2)).toMatchObject([
    { message_type: 'COMMIT_EVALUATION', verdict: 'pass' },
    { message_type: 'PR_EVALUATION', verdict: 'fail', bodies: expect.arrayContaining([outdated.body]) },
  ])
})

/**
 * Starts a run for each of the `responses` to its first review; the next one passes. Returns what was sent,
 * and the evaluations.
 */
async function reviewedBy(responses: FakeReply[], later: FakeReply) {
  let current: FakeScript = () => later
  const app = await startCodingApp((request, n) => current(request, n), on)
  await using _ = app
  const reviewed = []
  for (const response of responses) {
    const before = app.model.requests.length
    current = both(work, n_calls => (n_calls === 1 ? response : later))
    const { id } = await createRun(app, { prompt: 'Add two' })
    const [pr] = (await awaitEnd(app, id)).github_pull_requests
    const questions = app.model.requests.slice(before).filter(isQuestion)
    const verdicts = (await evaluations(app, id)).map(({ verdict }) => verdict)
    reviewed.push({
      state: pr.state,
      title: pr.title,
      verdicts,
      questions: questions.map(({ body }) => JSON.stringify(body)),
    })
  }
  return reviewed
}

test('a response that cannot be used is corrected once', async () => {
  const invalid: [FakeReply, string][] = [
    [{ text: 'Looks good to me.' }, 'It has no call of the tool.'],
    [review('maybe'), '- verdict: Invalid option'],
    [review('fail'), '- findings: `fail` needs a finding that says why'],
    [review('pass', [], {}), '- title: Invalid input'],
    [calls({ name: 'commit_verdict', arguments: '[1' }), 'The arguments are not a JSON object'],
    [
      { ...calls({ name: 'commit_verdict', arguments: '{"verdict": "pa' }), finish: 'length' },
      'It was cut off at the output limit',
    ],
  ]
  const reviewed = await reviewedBy(
    invalid.map(([response]) => response),
    review('pass'),
  )
  for (const [n, { questions, ...outcome }] of reviewed.entries()) {
    expect(outcome).toEqual({ state: 'open', title: words.title, verdicts: ['pass', 'pass'] })
    expect(questions.map(body => body.includes(invalid[n]?.[1] ?? ''))).toEqual([false, true])
  }
})

test('a second unusable response, or a failure of the provider, is inconclusive and blocks nothing', async () => {
  const text = { text: 'Looks good to me.' }
  const failed = (status: number) => ({ status, body: { error: { message: 'no' } } })
  const reviewed = await reviewedBy([text, failed(500), failed(401)], text)
  expect(reviewed.map(({ questions }) => questions.length)).toEqual([2, 1, 1])
  const outcome = { state: 'open', title: 'Add two', verdicts: ['inconclusive', 'inconclusive'] }
  expect(reviewed).toMatchObject([outcome, outcome, outcome])
})

test('commits that the model rejects to the end are proposed as a draft; a title that the user set is kept', async () => {
  const more = [
    calls(shell('echo again >> count.js')),
    finish('Again.'),
    calls(shell('echo last >> count.js')),
    finish('Last.'),
  ]
  const bad = { severity: 'error', body: 'It does not count.' }
  await using app = await startCodingApp(
    both([...work, ...more], () => review('fail', [bad])),
    on,
  )
  const { id } = await createRun(app, { prompt: 'Add two', title: 'My title' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ state: 'draft', title: 'My title' }],
  })
  expect(questionsOf(app.model)).toEqual(Array(3).fill('commit_verdict'))
  expect((await evaluations(app, id)).at(-1)).toMatchObject({
    message_type: 'PR_EVALUATION',
    verdict: 'fail',
    bodies: expect.arrayContaining(['The findings in its commits were not fixed.']),
  })
})

test('a playbook contains its verdicts, and without a verdict no model is called', async () => {
  const playbook = (...lines: string[]) =>
    `Play it.\n\n\`\`\`playbook\n- run: echo two >> count.js\n- answer: Done.\n${lines.join('\n')}\n\`\`\`\n`
  await using app = await startCodingApp(() => ({ text: '' }), on)
  const run = async (prompt: string) => {
    const { id } = await createRun(app, { prompt, model: 'scripted/playbook' })
    const { github_pull_requests } = await awaitEnd(app, id)
    const verdicts = (await evaluations(app, id)).map(({ verdict, evaluated_by }) => [verdict, evaluated_by])
    return [github_pull_requests[0].state, ...verdicts]
  }
  const model = 'scripted/playbook'
  const reject = '- evaluate_pr: {verdict: reject, findings: [{body: Not good.}]}'
  expect(await run(playbook())).toEqual(['open', ['pass', null], ['pass', null]])
  expect(await run(playbook(reject))).toEqual(['draft', ['pass', null], ['fail', model]])
  // As with a model, the verdict on the commits also counts for their new pull request.
  expect(await run(playbook('- evaluate_commit: {verdict: approve}'))).toEqual([
    'open',
    ['pass', model],
    ['pass', model],
  ])
  expect(await run(playbook('- evaluate_commit: {verdict: approve}', reject))).toEqual([
    'draft',
    ['pass', model],
    ['fail', model],
  ])
  expect(app.model.requests).toEqual([])
})
