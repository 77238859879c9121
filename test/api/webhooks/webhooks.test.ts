import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebhookConfig, WebhookTest } from '../../../src/contract/webhooks/webhooks.ts'
import { createSealer } from '../../../src/core/secrets/sealing.ts'
import { ownSecretKey } from '../../../src/system/secret-key.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => rows(app, 'delete from webhooks'))

const url = 'https://hooks.example.org/runs?x=1'
const usual = {
  events: null,
  previous_secret_until: null,
  failures: 0,
  rests_until: null,
  disabled_at: null,
  disabled_reason: null,
}
const none = { url: null, enabled: false, has_secret: false, ...usual }
const call = (method: string, body?: unknown, rest = '', org_id = app.org_id) =>
  app.call(method, `/v1/organizations/${org_id}/webhooks/agent-run${rest}`, body)
const privates = [
  ...[
    'http://127.0.0.1:5432/',
    'http://169.254.169.254/latest',
    'http://[::1]/',
    'http://localhost/',
    'https://x.localhost/',
  ],
  ...[
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://[::ffff:10.0.0.1]/',
  ],
  ...[
    'http://[fd00::1]/',
    'http://100.64.0.1/',
    'http://0.0.0.0/',
    'http://printer.local/',
    'http://db.internal/',
  ],
]
const wrong = [
  ...[
    undefined,
    null,
    '',
    1,
    'hooks.example.org',
    'file:///etc/passwd',
    'gopher://hooks.example.org/',
    'javascript:alert(1)',
  ],
  ...[
    'https://user:secret@hooks.example.org/',
    `https://hooks.example.org/${'x'.repeat(2_083)}`,
    'https://',
    'https://a b/',
  ],
]

describe('200', () => {
  test('none at first; set values are returned, and the secret is in no response', async () => {
    const { status, body } = await call('GET')
    expect({ status, body: WebhookConfig.strict().parse(body) }).toEqual({ status: 200, body: none })
    const set = await call('POST', { url, secret: 'a-signing-secret' })
    expect({ status: set.status, body: WebhookConfig.strict().parse(set.body) }).toEqual({
      status: 200,
      body: { url, enabled: true, has_secret: true, ...usual },
    })
    expect((await call('GET')).body).toEqual(set.body)
    expect((await call('POST', { url: 'http://hooks.example.org/', enabled: false })).body).toEqual({
      url: 'http://hooks.example.org/',
      enabled: false,
      has_secret: true,
      ...usual,
    })
    expect((await call('POST', { url, secret: null })).body).toEqual({
      url,
      enabled: true,
      has_secret: false,
      ...usual,
    })
    for (const _twice of [1, 2]) expect(await call('DELETE')).toMatchObject({ status: 200, body: none })
    expect((await call('GET')).body).toEqual(none)
  })

  test('the secret is encrypted in the database, and nowhere in plain text', async () => {
    await call('POST', { url, secret: 'a-signing-secret' })
    const tables = await rows<{ name: string }>(
      app,
      `select tablename as name from pg_tables where schemaname = 'public'`,
    )
    const forms = [
      'a-signing-secret',
      Buffer.from('a-signing-secret').toString('hex'),
      Buffer.from('a-signing-secret').toString('base64'),
    ]
    for (const { name } of tables)
      for (const form of forms)
        expect(await rows(app, `select 1 from ${name} t where strpos(t::text, $1) > 0`, [form])).toEqual([])
    const [row] = await rows<{ key_id: string; sealed: Buffer }>(
      app,
      'select key_id, sealed_secret as sealed from webhooks',
    )
    if (!row) throw new Error('not stored')
    const sealer = createSealer(ownSecretKey(app.data_dir))
    expect(sealer.open({ organization_id: app.org_id, scope: 'webhook', name: 'agent-run' }, row)).toBe(
      'a-signing-secret',
    )
    expect(() =>
      sealer.open({ organization_id: other.org_id, scope: 'webhook', name: 'agent-run' }, row),
    ).toThrow()
  })

  test('leaves audit entries that name the host alone', async () => {
    await rows(app, 'delete from audit_entries')
    await call('POST', { url, secret: 'a-signing-secret' })
    await call('DELETE')
    await call('DELETE')
    const found = await rows<{ action: string; detail: string }>(
      app,
      'select action, detail from audit_entries order by id',
    )
    expect(found).toEqual([
      { action: 'webhook.set', detail: '{"host":"hooks.example.org","enabled":true,"has_secret":true}' },
      { action: 'webhook.deleted', detail: '{}' },
    ])
  })
})

describe('400', () => {
  test.each(['', '/test'])('F120 an invalid or private address is not stored (%s)', async rest => {
    const before = await contents(app)
    for (const given of [...wrong, ...privates]) {
      const problem = expectProblem(await call('POST', { url: given }, rest), 400, 'body.url')
      expect(JSON.stringify(problem)).not.toContain('secret')
    }
    expect(await contents(app)).toEqual(before)
  })

  test('an invalid secret or switch', async () => {
    for (const secret of ['', 1, 'x'.repeat(501), 'a\0b'])
      expectProblem(await call('POST', { url, secret }), 400, 'body.secret')
    for (const events of [[], ['no_such'], 'agent_run.finished', 1])
      expectProblem(await call('POST', { url, events }), 400)
    for (const enabled of [null, 'yes', 1])
      expectProblem(await call('POST', { url, enabled }), 400, 'body.enabled')
  })
})

describe('403', () => {
  test('another organization', async () => {
    for (const [method, body] of [['GET'], ['POST', { url }], ['DELETE']] as const)
      expectProblem(await call(method, body, '', other.org_id), 403)
  })
})

describe('/test', () => {
  test('200: an unreachable address is not an error, and is reported as not delivered', async () => {
    const { status, body } = await call('POST', { url: 'https://hooks.invalid/' }, '/test')
    expect({ status, body: WebhookTest.strict().parse(body) }).toEqual({
      status: 200,
      body: {
        delivered: false,
        status: null,
        error: expect.stringMatching(/./),
        latency_ms: expect.any(Number),
        signed: false,
      },
    })
  })
})
