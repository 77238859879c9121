import { afterAll, beforeAll, expect, test } from 'vitest'
import { type App, startApp } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'
import { addPerson } from './people.ts'

let app: App
beforeAll(async () => {
  app = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_ORGANIZATIONS_PER_USER: '2',
    AGENTRUN_MAX_ORGANIZATIONS: '4',
  })
})
afterAll(() => app[Symbol.asyncDispose]())

const create = (name: string, token = app.token) =>
  app.call('POST', '/v1/organizations', { name }, { authorization: `Bearer ${token}` })

test('a user creates a limited number of organizations, also at the same time, and each user has their own', async () => {
  const all = await Promise.all(['one', 'two', 'three', 'four'].map(name => create(name)))
  expect(all.map(({ status }) => status).sort()).toEqual([200, 200, 403, 403])
  const refused = await create('five')
  expectProblem(refused, 403)
  expect(refused.body.detail).toContain('AGENTRUN_ORGANIZATIONS_PER_USER')
  const other = await addPerson(app, 'ADMIN')
  expect((await create('six', other.token)).status).toBe(200)
})

test('accounts that an ADMIN makes ADMIN add nothing to what all users together may create', async () => {
  const others = [await addPerson(app, 'ADMIN'), await addPerson(app, 'ADMIN'), await addPerson(app, 'ADMIN')]
  const all = await Promise.all(others.flatMap(({ token }) => ['a', 'b'].map(name => create(name, token))))
  // Three exist after the test before.
  expect(all.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403])
  expect((await create('c', others[0]?.token)).body.detail).toContain('AGENTRUN_MAX_ORGANIZATIONS')
})
