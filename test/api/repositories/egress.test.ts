import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Egress } from '../../../src/contract/organizations/egress.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { addPerson } from '../members/people.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const locations = ['/egress', '/repos/{repo_id}/egress'] as const
const at = (path: string, repo_id = app.repo_id) =>
  `/v1/organizations/${app.org_id}${path.replace('{repo_id}', `${repo_id}`)}`
const nothing = { agent: { mode: null, allow: [], presets: [] }, setup: { mode: null } }

describe.each(locations)('%s', location => {
  const put = (body: unknown) => app.call('PUT', at(location), body)
  const get = () => app.call('GET', at(location))

  test('200: nothing at first, then exactly the set rules', async () => {
    const { status, body } = await get()
    expect({ status, body: Egress.strict().parse(body) }).toEqual({ status: 200, body: nothing })
    const wanted = [
      {
        mode: 'allowlist',
        allow: [
          { host: '*.docs.example.com' },
          { host: 'a.example', port: 8080, methods: ['GET', 'CONNECT'] },
        ],
        presets: ['npm', 'debian'],
      },
      { mode: 'off', allow: [{ host: 'a.example', port: null, methods: null }], presets: [] },
      { mode: null, allow: [], presets: ['pypi'] },
    ]
    for (const agent of wanted) {
      expect(await put({ agent })).toMatchObject({ status: 200, body: { agent } })
      expect((await get()).body).toMatchObject({ agent, setup: { mode: null } })
    }
    for (const mode of ['off', 'allowlist', 'open', null])
      expect((await put({ agent: {}, setup: { mode } })).body).toEqual({ ...nothing, setup: { mode } })
    expect((await put({ agent: {} })).body).toEqual(nothing)
  })

  test('400: an invalid host, port, method or name, and nothing changes', async () => {
    const before = await contents(app)
    for (const host of [
      '*',
      '*.com',
      '*.github.io',
      'A.example',
      '127.0.0.1',
      'https://a.example',
      'a.example:443',
      '',
      'a b',
      1,
      null,
      'a\0b',
    ])
      expectProblem(
        await put({ agent: { allow: [{ host: 'a.example' }, { host }] } }),
        400,
        'body.agent.allow.1.host',
      )
    for (const port of [0, 65_536, 1.5, '443'])
      expectProblem(
        await put({ agent: { allow: [{ host: 'a.example', port }] } }),
        400,
        'body.agent.allow.0.port',
      )
    expectProblem(
      await put({ agent: { allow: [{ host: 'a.example', methods: ['get'] }] } }),
      400,
      'body.agent.allow.0.methods.0',
    )
    expectProblem(
      await put({ agent: { allow: [{ host: 'a.example', methods: [] }] } }),
      400,
      'body.agent.allow.0.methods',
    )
    expectProblem(await put({ agent: { presets: ['everything'] } }), 400, 'body.agent.presets.0')
    expectProblem(await put({ agent: { mode: 'on' } }), 400, 'body.agent.mode')
    expectProblem(await put({ agent: { mode: 'open' } }), 400, 'body.agent.mode')
    expectProblem(await put({ agent: {}, setup: { mode: 'on' } }), 400, 'body.setup.mode')
    expectProblem(
      await put({ agent: { allow: Array(201).fill({ host: 'a.example' }) } }),
      400,
      'body.agent.allow',
    )
    expectProblem(await put({}), 400, 'body.agent')
    expect(await contents(app)).toEqual(before)
  })

  test('readable with read permission; 403 without permission to change it', async () => {
    const reader = await addPerson(app, 'READER')
    const path = location.replace('{repo_id}', `${app.repo_id}`)
    expect((await reader.request('GET', path)).status).toBe(200)
    expectProblem(await reader.request('PUT', path, { agent: {} }), 403)
    const manager = await addPerson(app, 'MANAGER')
    expect((await manager.request('PUT', path, { agent: {} })).status).toBe(
      location === '/egress' ? 403 : 200,
    )
  })
})

describe('/repos/{repo_id}/egress/allow', () => {
  const path = () => at('/repos/{repo_id}/egress/allow')
  const allow = (rule: unknown) => app.call('POST', path(), rule)

  test('200: one more rule, once, and the mode is unchanged', async () => {
    await app.call('PUT', at(locations[1]), {
      agent: { mode: 'allowlist', presets: ['npm'], allow: [{ host: 'a.example' }] },
    })
    const rule = { host: 'b.example', port: 443, methods: ['GET', 'CONNECT'] }
    const agent = { mode: 'allowlist', presets: ['npm'], allow: [{ host: 'a.example' }, rule] }
    expect(await allow(rule)).toMatchObject({ status: 200, body: { agent } })
    expect((await allow({ ...rule, methods: ['CONNECT', 'GET'] })).body).toMatchObject({ agent })
    expect((await allow({ host: 'a.example', port: null })).body).toMatchObject({ agent })
  })

  test.each([null, 'off'] as const)(
    '200: where egress is off (%s) it becomes an allow-list of that rule alone',
    async mode => {
      await app.call('PUT', at(locations[1]), {
        agent: { mode, presets: ['npm'], allow: [{ host: 'a.example' }] },
      })
      const rule = { host: 'a.example', port: 443 }
      const agent = { mode: 'allowlist', presets: [], allow: [rule] }
      expect(await allow(rule)).toMatchObject({ status: 200, body: { agent } })
      expect((await app.call('GET', at(locations[1]))).body).toMatchObject({ agent })
    },
  )

  test('200: with an allow-list of the organization the rule is added, and the mode is unchanged', async () => {
    await app.call('PUT', at(locations[0]), { agent: { mode: 'allowlist' } })
    await app.call('PUT', at(locations[1]), { agent: { presets: ['npm'] } })
    expect((await allow({ host: 'a.example' })).body).toMatchObject({
      agent: { mode: null, presets: ['npm'], allow: [{ host: 'a.example' }] },
    })
    await app.call('PUT', at(locations[0]), { agent: {} })
    await app.call('PUT', at(locations[1]), { agent: { mode: 'allowlist' } })
  })

  test('409 when egress is off and the list is for setup commands: the list is neither opened to agents nor lost', async () => {
    const set = { agent: { mode: 'off', presets: ['npm'], allow: [] }, setup: { mode: 'allowlist' } }
    await app.call('PUT', at(locations[1]), set)
    expectProblem(await allow({ host: 'a.example' }), 409)
    expect((await app.call('GET', at(locations[1]))).body).toEqual(set)
    await app.call('PUT', at(locations[1]), { agent: { mode: 'allowlist' } })
  })

  test('parallel requests are all stored', async () => {
    const hosts = Array.from({ length: 8 }, (_, n) => `n${n}.example`)
    expect((await Promise.all(hosts.map(host => allow({ host })))).map(({ status }) => status)).toEqual(
      Array(8).fill(200),
    )
    const { body } = await app.call('GET', at(locations[1]))
    expect(body.agent.allow.map(({ host }: { host: string }) => host)).toEqual(expect.arrayContaining(hosts))
  })

  test('400 for an invalid rule, 409 for one more than 200', async () => {
    expectProblem(await allow({ host: '10.0.0.1' }), 400, 'body.host')
    await app.call('PUT', at(locations[1]), {
      agent: { mode: 'allowlist', allow: Array.from({ length: 200 }, (_, n) => ({ host: `m${n}.example` })) },
    })
    expectProblem(await allow({ host: 'one-more.example' }), 409)
    expect((await allow({ host: 'm7.example' })).status).toBe(200)
    await app.call('PUT', at(locations[1]), { agent: {} })
  })
})

test('404: a repository of another organization', async () => {
  const before = await contents(app)
  const theirs = at(locations[1], other.repo_id)
  expectProblem(await app.call('GET', theirs), 404)
  expectProblem(await app.call('PUT', theirs, { agent: {} }), 404)
  expectProblem(await app.call('POST', `${theirs}/allow`, { host: 'a.example' }), 404)
  expect(await contents(app)).toEqual(before)
})

test('the rules of a repository are deleted with it', async () => {
  const { body } = await app.call('POST', at('/repos'), { url: 'https://git.example.org/acme/gone.git' })
  await app.call('PUT', at(locations[1], body.id), { agent: { mode: 'off' } })
  expect((await app.call('DELETE', at(`/repos/${body.id}`))).status).toBe(200)
  expect(await rows(app, 'select 1 from egress where repository_id = $1', [body.id])).toEqual([])
})
