import { expect, test } from 'vitest'
import { awaitEnd, createRun } from '../await-run.ts'
import { calls, finish, PRICED, shell, startCodingApp } from '../coding-app.ts'
import { both, evaluations, isQuestion, on, questionsOf, review } from './reviewer-script.ts'

const work = [calls(shell('echo two >> count.js')), finish('Done.')]
const no = { severity: 'error', body: 'No.' }

test('review: rules of the run, the repository or the organization calls no model: rules review the change and write its text', async () => {
  let n = 0
  await using app = await startCodingApp(
    request => (isQuestion(request) ? review('fail', [no]) : (work[n++ % 2] ?? {})),
    on,
  )
  const path = `/v1/organizations/${app.org_id}`
  const rulesOf = async (review: string | null, where: string) =>
    app.call('PATCH', `${path}${where}`, { review })
  const reviewed = async (body: object = {}) => {
    const { id } = await createRun(app, { prompt: 'Add two', ...body })
    expect(await awaitEnd(app, id)).toMatchObject({
      review: 'rules',
      github_pull_requests: [{ state: 'open', title: 'Add two' }],
    })
    expect(await evaluations(app, id)).toMatchObject(Array(2).fill({ verdict: 'pass', evaluated_by: null }))
  }
  await reviewed({ review: 'rules' })
  await rulesOf('rules', `/repos/${app.repo_id}`)
  await reviewed()
  await rulesOf(null, `/repos/${app.repo_id}`)
  await rulesOf('rules', '')
  await reviewed()
  expect(questionsOf(app.model)).toEqual([])
})

test('rules decide also where no model reviews: what they reject returns to the agent', async () => {
  const conflict = [
    calls(shell(String.raw`printf '<<<<<<< a\n=======\n>>>>>>> b\n' >> count.js`)),
    finish('Done.'),
  ]
  const fixed = [calls(shell('git checkout -q HEAD~1 -- count.js; echo two >> count.js')), finish('Fixed.')]
  await using app = await startCodingApp(
    both([...conflict, ...fixed], () => review('pass')),
    on,
  )
  const { id } = await createRun(app, { prompt: 'Add two', review: 'rules' })
  expect(await awaitEnd(app, id)).toMatchObject({
    result: 'Fixed.',
    github_pull_requests: [{ state: 'open' }],
  })
  expect((await evaluations(app, id)).map(({ verdict }) => verdict)).toEqual(['fail', 'pass', 'pass'])
  expect(questionsOf(app.model)).toEqual([])
})

test('AGENTRUN_REVIEW_MODEL reviews with its own effort, and the run pays for it', async () => {
  const settings = { ...on, AGENTRUN_REVIEW_MODEL: PRICED.model, AGENTRUN_REVIEW_EFFORT: 'high' }
  await using app = await startCodingApp(
    both(work, () => ({ ...review('pass'), usage: { input: 1_000, output: 100 } })),
    settings,
  )
  const { id } = await createRun(app, { prompt: 'Add two', reasoning_effort: 'minimal' })
  await awaitEnd(app, id)
  expect((await evaluations(app, id)).map(({ evaluated_by }) => evaluated_by)).toEqual([
    PRICED.model,
    PRICED.model,
  ])
  const [question] = app.model.requests.filter(isQuestion)
  expect(question?.body).toMatchObject({
    model: 'gpt-5.4-mini',
    reasoning: { effort: 'high' },
    max_output_tokens: 16_000,
  })
  expect(app.model.requests.filter(request => !isQuestion(request)).map(({ body }) => body.model)).toEqual([
    'fake',
    'fake',
  ])
  const usage = await app.call('GET', `/v1/organizations/${app.org_id}/usage?group_by=model`)
  const paid = usage.body.items.find(({ model }: { model?: string }) => model === PRICED.model)
  expect(Number(paid?.cost_usd)).toBeCloseTo(1_000 * PRICED.input + 100 * PRICED.output, 9)
})

test('a run without budget for a review uses the rules', async () => {
  const long = { ...finish('Done.'), usage: { input: 100, output: 10_000 } }
  await using app = await startCodingApp(
    both([calls(shell('echo two >> count.js')), long], () => review('fail', [no])),
    on,
  )
  // The last response uses nearly all of the budget.
  const { id } = await createRun(app, {
    prompt: 'Add two',
    model: PRICED.model,
    budget: { max_cost_usd: '0.05' },
  })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ state: 'open' }],
  })
  expect(questionsOf(app.model)).toEqual([])
  expect((await evaluations(app, id)).map(({ evaluated_by }) => evaluated_by)).toEqual([null, null])
})

test('commits that rules reject to the end call no model, and their draft has a text by rules', async () => {
  const conflict = [
    calls(shell(String.raw`printf '<<<<<<< a\n=======\n>>>>>>> b\n' >> count.js`)),
    finish('Done.'),
  ]
  await using app = await startCodingApp(
    both([...conflict, finish('Done.'), finish('Done.')], () => review('pass')),
    on,
  )
  const { id } = await createRun(app, { prompt: 'Add two' })
  expect(await awaitEnd(app, id)).toMatchObject({
    github_pull_requests: [{ state: 'draft', title: 'Add two' }],
  })
  expect(questionsOf(app.model)).toEqual([])
})
