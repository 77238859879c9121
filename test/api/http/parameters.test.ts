import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let pages: Record<string, string>
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  const { id } = await createRun(app, { prompt: 'x' })
  const org = `/v1/organizations/${app.org_id}`
  pages = {
    logs: `${org}/agent/run/${id}/logs`,
    runs: `${org}/agent/runs`,
    repos: `${org}/repos`,
    organizations: '/v1/organizations',
  }
})
afterAll(() => app[Symbol.asyncDispose]())

const get = (page: string, query: string) => app.call('GET', `${pages[page]}?${query}`)

describe.each(['logs', 'runs', 'repos', 'organizations'])('F102 paging of %s', page => {
  const wrong = [
    '',
    '-1',
    '+1',
    '1e2',
    '0x10',
    '%2010',
    '10%20',
    '5.0',
    '1_0',
    '0b1',
    'NaN',
    'Infinity',
    '%EF%BC%91',
    '99999999999999999999',
    '%00',
    'null',
  ]

  test('limit is a plain decimal from 1 to 100, and never clamped or guessed', async () => {
    for (const value of [...wrong, '0', '101', '1000000000'])
      expectProblem(await get(page, `limit=${value}`), 400, 'query.limit')
    for (const value of ['1', '100'])
      expect((await get(page, `limit=${value}`)).body).toMatchObject({ size: Number(value), page: 1 })
    expect((await get(page, '')).body).toMatchObject({ size: 100, page: 1 })
  })

  test('skip is a plain decimal from 0 to 999,999,999', async () => {
    for (const value of [...wrong, '1000000000', '2147483648'])
      expectProblem(await get(page, `skip=${value}`), 400, 'query.skip')
    for (const value of ['0', '999999999']) expect((await get(page, `skip=${value}`)).status).toBe(200)
  })

  test('a key given twice is refused, in every spelling', async () => {
    for (const query of [
      'limit=1&limit=2',
      'limit=1&limit=1',
      'limit[]=1',
      'limit[0]=1',
      'limit%5B%5D=1',
      'limit[]=1&limit=1',
      'limit=1&limit[]=1',
    ])
      expectProblem(await get(page, query), 400, 'query.limit')
    for (const query of ['skip=1&skip=2', 'skip[a]=1'])
      expectProblem(await get(page, query), 400, 'query.skip')
  })

  test('unknown keys are ignored', async () => {
    for (const query of [
      'Limit=0',
      '__proto__=1',
      'constructor=1',
      'x[y]=1',
      '%zz=1',
      '&&=',
      `${'k=v&'.repeat(190)}`,
    ])
      expect({ query, status: (await get(page, query)).status }).toEqual({ query, status: 200 })
  })
})

describe.each(['runs', 'repos', 'organizations'])('F102 page and size of %s', page => {
  test('are as strict', async () => {
    for (const value of ['0', '-1', '1e2', '0x10', '', '1000000000'])
      expectProblem(await get(page, `page=${value}`), 400, 'query.page')
    for (const value of ['0', '101', '5.0'])
      expectProblem(await get(page, `size=${value}`), 400, 'query.size')
    expectProblem(await get(page, 'page=1&page=2&size[]=1'), 400, 'query.page', 'query.size')
  })
})

describe('F103 ids in the path', () => {
  const spelled = [
    '01',
    '1.0',
    '1e0',
    '0x1',
    '-1',
    '+1',
    '%201',
    '%00',
    '..%2F1',
    '%EF%BC%91',
    '99999999999999999999',
    'NaN',
    'x'.repeat(200),
  ]

  test.each(spelled)('an organization spelled %s is refused by name', async value => {
    const response = await app.call('GET', `/v1/organizations/${value}/repos`)
    expectProblem(response, 400, 'path.org_id')
  })

  test('errors of the path are reported together with those of the query', async () => {
    const response = await app.call('GET', '/v1/organizations/one/agent/run/two/logs?limit=three')
    expectProblem(response, 400, 'path.org_id', 'path.agent_run_id', 'query.limit')
  })

  test('an unknown id is not a member, or not found, regardless of its size', async () => {
    for (const value of [0, 2_147_483_648, 999_999_999_999_999]) {
      expectProblem(await app.call('GET', `/v1/organizations/${value}/repos`), 403)
      expectProblem(await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${value}`), 404)
    }
  })

  test('a path segment that is too long is refused as such', async () =>
    void expectProblem(await app.call('GET', `/v1/organizations/${'1'.repeat(201)}/repos`), 414))
})
