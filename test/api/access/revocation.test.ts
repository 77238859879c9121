import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digest } from '../../../src/core/access/token.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addPerson, type Caller, requestWith } from '../members/people.ts'
import { openFrames } from '../trace/read-frames.ts'

let first: App
let second: App
let admin: Caller
beforeAll(async () => {
  first = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  // Another process of the service on the same database.
  second = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', DATABASE_URL: first.database_url })
  admin = await addCaller(first, first.user_id)
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

const org = (path: string) => `/v1/organizations/${first.org_id}${path}`
async function newToken(body: Record<string, unknown> = {}) {
  const response = await admin.request('POST', '/tokens', { name: 't', ...body })
  expect(response.status).toBe(200)
  return response.body as { id: number; token: string }
}

describe('F114 the request after', () => {
  test('a revocation is refused by every process, however often the token was used there', async () => {
    for (let i = 0; i < 10; i++) {
      const { id, token } = await newToken()
      for (const node of [first, second, first, second])
        expect((await requestWith(node, token, 'GET', org('/repos'))).status).toBe(200)
      await admin.request('DELETE', `/tokens/${id}`)
      for (const node of [second, first])
        expectProblem(await requestWith(node, token, 'GET', org('/repos')), 401)
    }
  })

  test('a removal, and a change of role, counts for every process', async () => {
    const person = await addPerson(first, 'MEMBER')
    const create = () => requestWith(second, person.token, 'POST', org('/agent/run'), { prompt: 'x' })
    expect((await create()).status).toBe(200)
    await admin.request('PATCH', `/members/${person.user_id}`, { role: 'READER' })
    expectProblem(await create(), 403)
    expect((await requestWith(second, person.token, 'GET', org('/repos'))).status).toBe(200)
    await admin.request('DELETE', `/members/${person.user_id}`)
    expectProblem(await requestWith(second, person.token, 'GET', org('/repos')), 403)
  })
})

/** Both kinds of stream, of one token and on both processes, once they have begun. */
async function openStreams(token: string) {
  const { id } = await createRun(first, { prompt: 'x' })
  const paths = [org(`/agent/run/${id}/events`), org('/events?after_seq=0')]
  const readers = await Promise.all(
    [first, second].flatMap(node => paths.map(path => openFrames({ ...node, token }, path))),
  )
  for (const reader of readers) await reader.until(seen => seen.length > 0)
  return readers
}

/** The server ends all of them; a stream that stays open makes the test time out. */
async function expectEnd(readers: Awaited<ReturnType<typeof openStreams>>) {
  for (const reader of readers) await reader.closed()
}

describe('F114 open streams end', () => {
  test('when their token is revoked, and those of others continue', async () => {
    const [gone, stays] = [await newToken(), await newToken()]
    const [ending, going] = [await openStreams(gone.token), await openStreams(stays.token)]
    await admin.request('DELETE', `/tokens/${gone.id}`)
    await expectEnd(ending)
    const { id } = await createRun(first, { prompt: 'after' })
    for (const reader of [going[1], going[3]])
      await reader?.until(seen =>
        seen.some(frame => frame.event === 'run' && JSON.parse(frame.data).agent_run_id === id),
      )
    for (const reader of going) await reader[Symbol.asyncDispose]()
  })

  test('when their token expires', async () => {
    const { token } = await newToken({ expires_in_seconds: 3_600 })
    const readers = await openStreams(token)
    await rows(first, 'update tokens set expires_at = now() where digest = $1', [digest(token)])
    await expectEnd(readers)
  })

  test('when their user is removed from the organization', async () => {
    const person = await addPerson(first, 'MEMBER')
    const readers = await openStreams(person.token)
    await admin.request('DELETE', `/members/${person.user_id}`)
    await expectEnd(readers)
  })

  test('not when the role changes to one that may still read', async () => {
    const person = await addPerson(first, 'MEMBER')
    const readers = await openStreams(person.token)
    await admin.request('PATCH', `/members/${person.user_id}`, { role: 'READER' })
    const { token, id } = await newToken()
    const ending = await openStreams(token)
    await admin.request('DELETE', `/tokens/${id}`)
    // By then every stream was checked.
    await expectEnd(ending)
    const run = await createRun(first, { prompt: 'after' })
    for (const reader of [readers[1], readers[3]])
      await reader?.until(seen =>
        seen.some(frame => frame.event === 'run' && JSON.parse(frame.data).agent_run_id === run.id),
      )
    for (const reader of readers) await reader[Symbol.asyncDispose]()
  })
})
