import { afterAll, beforeAll, expect, test } from 'vitest'
import { addTenant } from '../api/access/second-organization.ts'
import { tokenCalls } from '../api/contract/every-endpoint.ts'
import { sendCall } from '../api/contract/send-call.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'
import { metricsUrl } from './read-metrics.ts'

const SECRET = 'hunter2-must-not-be-told'

let app: CodingApp
beforeAll(async () => {
  app = await startCodingApp(
    (_request, n) =>
      n === 0
        ? { status: 400, body: { error: { message: `bad ${SECRET}` } } }
        : n === 1
          ? calls(
              shell(`echo ${SECRET}; echo ${SECRET} >&2`),
              { name: SECRET, arguments: {} },
              { name: 'read', arguments: { path: `${SECRET}.txt` } },
            )
          : { text: `It is ${SECRET}.` },
    {
      AGENTRUN_METRICS_PORT: '0',
      AGENTRUN_ALLOW_PRIVATE_GIT: '1',
      OPENAI_COMPATIBLE_API_KEY: `${SECRET}-key`,
    },
  )
})
afterAll(() => app[Symbol.asyncDispose]())

const requests = () => app.logs.filter(line => line.message === 'request')

test('every request is one line: operation, status, duration, user, and the id in its response', async () => {
  const response = await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)
  const refused = await app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`, undefined, {
    authorization: 'Bearer nobody',
  })
  const nowhere = await app.call('GET', '/v1/nowhere')
  await expect.poll(() => requests().length).toBeGreaterThanOrEqual(3)
  const lineOf = (headers: Headers) =>
    requests().filter(line => line.fields?.request_id === headers.get('x-request-id'))
  const [token] = await rows<{ id: number }>(app, 'select min(id) as id from tokens')
  expect(lineOf(response.headers)).toEqual([
    {
      level: 'info',
      message: 'request',
      fields: {
        operation: 'listAgentRuns',
        status: 200,
        duration_ms: expect.any(Number),
        request_id: response.headers.get('x-request-id'),
        organization_id: app.org_id,
        token_id: token?.id,
      },
    },
  ])
  expect(lineOf(refused.headers)).toMatchObject([
    { fields: { operation: 'listAgentRuns', status: 401, organization_id: null, token_id: null } },
  ])
  expect(lineOf(nowhere.headers)).toMatchObject([{ fields: { operation: 'none', status: 404 } }])
})

test('probes are logged at level debug, and internal failures at warn', async () => {
  const { headers } = await app.call('GET', '/healthz')
  await expect
    .poll(() => requests().find(line => line.fields?.request_id === headers.get('x-request-id'))?.level)
    .toBe('debug')
})

test('lines of a run name the run, its epoch and its owner', async () => {
  const { id } = await createRun(app, { prompt: SECRET, model: 'scripted/playbook' })
  await awaitEnd(app, id)
  const of_run = () => app.logs.filter(line => line.fields?.run_id === id)
  await expect.poll(() => of_run().map(line => line.message)).toEqual(['run claimed', 'turn ended'])
  const fields = {
    run_id: id,
    organization_id: app.org_id,
    epoch: 1,
    owner: expect.stringMatching(/^\d+-\w+$/),
  }
  expect(of_run().map(line => line.fields)).toEqual([
    { ...fields, turn: 1, phase: 'clone', recovered: null },
    { ...fields, end: 'completed', reason: null },
  ])
})

/** The same value with SECRET instead of every text in it, and as a key. */
function poisoned(value: unknown): unknown {
  if (typeof value === 'string') return SECRET
  if (Array.isArray(value)) return value.map(poisoned)
  if (typeof value !== 'object' || value === null) return value
  return {
    ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, poisoned(inner)])),
    [SECRET]: SECRET,
  }
}

test('secrets in any field of any operation, in outputs of models and tools, and in quotes of the database are in no log line and no metric', async () => {
  const ids = await addTenant(app, 'theirs')
  const own = {
    org_id: app.org_id,
    run_id: ids.run_id,
    repo_id: app.repo_id,
    user_id: app.user_id,
    pr_id: ids.pr_id,
    artifact_id: ids.artifact_id,
  }
  const headers = {
    'idempotency-key': SECRET,
    'x-anything': SECRET,
    cookie: `agentrun_session=${SECRET}`,
    'last-event-id': SECRET,
    traceparent: SECRET,
  }
  for (const call of tokenCalls(own)) {
    const more = call.path.includes('?') ? '&' : '?'
    await sendCall(app, { ...call, headers }, app.token)
    await sendCall(
      app,
      { ...call, path: `${call.path}${more}${SECRET}=${SECRET}`, body: poisoned(call.body) },
      app.token,
    )
    await sendCall(app, { ...call, path: call.path.replace(/\/\d+(?=\/|$|\?)/g, `/${SECRET}`) }, app.token)
    await sendCall(app, call, SECRET)
    await sendCall(app, { ...call, ...(call.method !== 'GET' && { body: SECRET }) }, `arun_p_${SECRET}`)
  }
  await app.call('POST', '/session', { code: SECRET })
  await app.call('GET', `/${SECRET}/..%2f${SECRET}`)

  // A run whose model fails with it, then one whose tools and answer are full of it.
  for (const prompt of [SECRET, `again ${SECRET}`]) {
    const { id } = await createRun(app, {
      prompt,
      model: 'openai-compatible/fake',
      title: SECRET,
      metadata: { [SECRET]: SECRET },
    })
    await awaitEnd(app, id)
  }
  // The database refuses a row in its own words, and quotes what it was given.
  await app.db.query({
    text: `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused: %', new.prompt; end $$;
      create trigger refuse before insert on runs for each row execute function refuse()`,
  })
  const failed = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, { prompt: SECRET })
  expect(failed.status).toBe(500)
  const line = app.logs.find(
    entry => entry.message === 'request failed' && entry.fields?.request_id === failed.body.request_id,
  )
  expect(line).toMatchObject({
    level: 'error',
    fields: { error: expect.stringContaining('error P0001 of the database') },
  })

  expect(requests().length).toBeGreaterThan(200)
  for (const word of [SECRET, app.token]) {
    expect(app.logs.filter(entry => JSON.stringify(entry).includes(word))).toEqual([])
    expect(await (await fetch(`${metricsUrl(app)}/metrics`)).text()).not.toContain(word)
  }
})
