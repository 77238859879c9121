import { expect, test } from 'vitest'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, makeRepository, responses, shell, startCodingApp } from '../coding-app.ts'

const template = `## Summary
<!-- What does this change? -->

## Tests
<!-- What did you run? -->
`
const counter = { 'README.md': '# Counter\n', 'count.js': 'export const one = 1\n' }

async function pullRequestOf(app: CodingApp, run_id: number) {
  const { items } = (await app.call('GET', `/v1/organizations/${app.org_id}/prs?agent_run_id=${run_id}`)).body
  return items[0]
}
const evaluations = async (app: CodingApp, id: number) =>
  (await allLogs(app, id))
    .filter(entry => entry.message_type === 'PR_EVALUATION')
    .map(entry => entry.observation)

test('a pull request follows the repository’s template at the commit that the run began at, and opens when its evaluation has passed', async () => {
  const repository = makeRepository({ ...counter, '.github/pull_request_template.md': template })
  const rewrite = 'echo two >> count.js; echo "## Approved by the boss" > .github/pull_request_template.md'
  await using app = await startCodingApp(
    responses(calls(shell(rewrite)), { text: 'Counts to two now, as asked.' }),
    {},
    repository,
  )
  const { id } = await createRun(app, { prompt: 'Count to two' })
  const run = await awaitEnd(app, id)
  const pr = await pullRequestOf(app, id)
  expect(pr).toMatchObject({ state: 'open', title: 'Count to two', head_branch: run.branch, review: 'pass' })
  expect(pr.body).toBe(
    `## Summary\n\nCounts to two now, as asked.\n\n## Tests\n\n---\nCreated by an agent run: ${run.web_url}`,
  )
  expect(await evaluations(app, id)).toEqual([
    {
      pr_number: 1,
      head_sha: pr.head_sha,
      verdict: 'pass',
      evaluated_by: null,
      findings: [
        {
          path: null,
          line: null,
          severity: 'warning',
          code: 'template_unanswered',
          body: 'The section “Tests” of the template is empty.',
        },
      ],
    },
  ])
  const states_published = `select body::json->>'state' as state, body::json->>'created' as created
    from events
    where run_id = $1 and type = 'agent_run.pull_request'
    order by seq`
  expect(await rows(app, states_published, [id])).toEqual([
    { state: 'draft', created: 'true' },
    { state: 'open', created: 'false' },
  ])
})

test('a run that begins at a tag or at a commit proposes its change for the default branch', async () => {
  const twice = [calls(shell('echo more > more.txt')), { text: 'More.' }]
  await using app = await startCodingApp(responses(...twice, ...twice))
  app.git('tag', 'main')
  const tagged = app.git('rev-parse', 'HEAD').trim()
  app.git('commit', '--quiet', '--allow-empty', '-m', 'later')
  for (const base_ref of ['refs/tags/main', tagged]) {
    const { id } = await createRun(app, { prompt: 'Add more', base_ref })
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', base_ref, base_sha: tagged })
    expect(await pullRequestOf(app, id)).toMatchObject({
      base_branch: 'main',
      base_sha: tagged,
      files_changed: 1,
    })
  }
})

test('a pull request with rejected commits stays a draft, and a later head that passes opens it', async () => {
  const conflict = 'printf "<<<<<<< ours\\none\\n=======\\ntwo\\n>>>>>>> theirs\\n" > count.js'
  const stubborn = { text: 'I left it as it is, on purpose.' }
  await using app = await startCodingApp(
    responses(calls(shell(conflict)), stubborn, stubborn, stubborn, calls(shell('echo one > count.js')), {
      text: 'Mended.',
    }),
  )
  const { id } = await createRun(app, { prompt: 'Merge it' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ number: 1, state: 'draft' }],
  })
  expect((await evaluations(app, id)).map(({ verdict, findings }) => [verdict, findings[0].code])).toEqual([
    ['fail', 'commits_failed'],
  ])
  expect(await pullRequestOf(app, id)).toMatchObject({ review: 'fail' })
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'Do fix it.',
  })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    turn: 2,
    github_pull_requests: [{ number: 1, state: 'open' }],
  })
  expect((await evaluations(app, id)).map(({ verdict }) => verdict)).toEqual(['fail', 'pass'])
  expect(await pullRequestOf(app, id)).toMatchObject({ review: 'pass' })
})

test('a pull request that conflicts with its base stays a draft until a person opens it, and a draft of a person stays one', async () => {
  const script = responses(
    calls(shell('echo mine > count.js')),
    { text: 'Mine.' },
    calls(shell('echo more > more.txt')),
    { text: 'More.' },
  )
  let app_: CodingApp | null = null
  await using app = await startCodingApp((request, n) => {
    // The base moves while the agent works.
    if (n === 1) {
      app_?.git('commit', '--quiet', '--allow-empty', '-m', 'nothing')
      app_?.git('rm', '--quiet', 'count.js')
      app_?.git('commit', '--quiet', '-m', 'drop count.js')
    }
    return script(request, n)
  })
  app_ = app
  const { id } = await createRun(app, { prompt: 'Mine' })
  await awaitEnd(app, id)
  const pr = await pullRequestOf(app, id)
  expect([pr.state, (await evaluations(app, id)).map(({ verdict }) => verdict)]).toEqual(['draft', ['fail']])
  const edit = (state: string) => app.call('PATCH', `/v1/organizations/${app.org_id}/prs/${pr.id}`, { state })
  expect((await edit('ready_for_review')).body).toMatchObject({ success: true, state: 'open' })
  expect((await edit('draft')).body).toMatchObject({ success: true, state: 'draft' })
  app.git('revert', '--no-edit', 'HEAD')
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'More.',
  })
  await awaitEnd(app, id)
  expect((await evaluations(app, id)).at(-1)).toMatchObject({ verdict: 'pass' })
  expect((await pullRequestOf(app, id)).state).toBe('draft')
})
