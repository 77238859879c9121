import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type App, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

let app: App
let other: Tenant
let before: Record<string, string>
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  before = await contents(app)
})
afterAll(async () => {
  // None of the refusals above wrote anything.
  expect(await contents(app)).toEqual(before)
  await app[Symbol.asyncDispose]()
})

const path = (org_id = app.org_id) => `/v1/organizations/${org_id}/agent/run`
const create = (body: unknown) => app.call('POST', path(), body)
const png = (bytes: number) => `data:image/png;base64,${'A'.repeat(bytes)}`

describe('F104 F120 400 names the field', () => {
  const mistakes: [string, Record<string, unknown>, string][] = [
    ['no prompt', { prompt: undefined }, 'body.prompt'],
    ['prompt null', { prompt: null }, 'body.prompt'],
    ['prompt a number', { prompt: 7 }, 'body.prompt'],
    ['prompt empty', { prompt: '' }, 'body.prompt'],
    ['prompt white space', { prompt: ' \n\t\u00a0' }, 'body.prompt'],
    ['prompt of 200,001 characters', { prompt: 'x'.repeat(200_001) }, 'body.prompt'],
    ['prompt with NUL', { prompt: 'a\0b' }, 'body.prompt'],
    ['prompt with half a surrogate pair', { prompt: 'a\ud800b' }, 'body.prompt'],
    ['repo_id a string', { repo_id: '1' }, 'body.repo_id'],
    ['repo_id a fraction', { repo_id: 1.5 }, 'body.repo_id'],
    ['repo_id negative', { repo_id: -1 }, 'body.repo_id'],
    ['repo_id beyond 2^53', { repo_id: 2 ** 60 }, 'body.repo_id'],
    ['parent_run_id a boolean', { parent_run_id: true }, 'body.parent_run_id'],
    ['title of 201 characters', { title: 'x'.repeat(201) }, 'body.title'],
    ['title with NUL', { title: 'a\0' }, 'body.title'],
    ['tags no list', { tags: 'a' }, 'body.tags'],
    ['a tag empty', { tags: ['a', ' '] }, 'body.tags.1'],
    ['a tag with NUL', { tags: ['a\0'] }, 'body.tags.0'],
    ['21 tags', { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, 'body.tags'],
    ['metadata a list', { metadata: [1] }, 'body.metadata'],
    ['metadata a text', { metadata: 'x' }, 'body.metadata'],
    ['metadata over 16 kB', { metadata: { a: 'x'.repeat(16 * 1024) } }, 'body.metadata'],
    [
      'metadata over 16 kB in bytes, not in characters',
      { metadata: { a: 'é'.repeat(9_000) } },
      'body.metadata',
    ],
    ['metadata with NUL', { metadata: { a: { b: ['a\0'] } } }, 'body.metadata'],
    ['metadata with half a surrogate pair', { metadata: { a: '\ud800' } }, 'body.metadata'],
    ['metadata with half a surrogate pair in a key', { metadata: { a: [{ '\udfff': 1 }] } }, 'body.metadata'],
    ['11 images', { images: Array.from({ length: 11 }, () => png(4)) }, 'body.images'],
    ['an image that is a URL', { images: [png(4), 'https://example.org/a.png'] }, 'body.images.1'],
    ['an image that is a script', { images: ['data:text/html;base64,AAAA'] }, 'body.images.0'],
    ['images over 16 MB together', { images: [png(9 * 1024 * 1024), png(8 * 1024 * 1024)] }, 'body.images'],
    ['budget below nothing', { budget: { max_cost_usd: -1 } }, 'body.budget.max_cost_usd'],
    ['budget with no number', { budget: { max_cost_usd: 'much' } }, 'body.budget.max_cost_usd'],
    ['budget of 0 steps', { budget: { max_steps: 0 } }, 'body.budget.max_steps'],
    ...[
      'ftp://example.org/x',
      'file:///etc/passwd',
      'gopher://example.org',
      'javascript:alert(1)',
      'example.org/hook',
      '',
    ].map(
      url =>
        [`a webhook at ${url}`, { webhooks: [{ url }] }, 'body.webhooks.0.url'] as [
          string,
          Record<string, unknown>,
          string,
        ],
    ),
    ...[
      'https://u:p@example.org/',
      'https://example.org/a b',
      'https://example.org/\n',
      `https://example.org/${'x'.repeat(2_083)}`,
    ].map(
      url =>
        [`a webhook at ${url.slice(0, 30)}`, { webhooks: [{ url }] }, 'body.webhooks.0.url'] as [
          string,
          Record<string, unknown>,
          string,
        ],
    ),
    ...[
      ...[
        'http://127.0.0.1:5432',
        'http://localhost',
        'https://db.localhost:9',
        'http://169.254.169.254/latest',
        'http://[::1]',
        'http://10.0.0.1',
      ],
      ...[
        'http://0x7f.1/',
        'http://2130706433',
        'https://[::ffff:192.168.0.1]/',
        'http://metadata.google.internal',
      ],
    ].map(
      url =>
        [
          `a webhook at ${url}, which is private`,
          { webhooks: [{ url: 'https://example.org' }, { url }] },
          'body.webhooks.1.url',
        ] as [string, Record<string, unknown>, string],
    ),
    ['a webhook without an address', { webhooks: [{ secret: 'x' }] }, 'body.webhooks.0.url'],
    [
      'a webhook with an empty secret',
      { webhooks: [{ url: 'https://example.org', secret: '' }] },
      'body.webhooks.0.secret',
    ],
    [
      '11 webhooks',
      { webhooks: Array.from({ length: 11 }, () => ({ url: 'https://example.org' })) },
      'body.webhooks',
    ],
    ['auto_create_pr a text', { auto_create_pr: 'yes' }, 'body.auto_create_pr'],
    ['a webhook without URL', { webhooks: [{ secret: 'x' }] }, 'body.webhooks.0.url'],
    ['base_ref unknown', { base_ref: 'no-such-branch' }, 'body.base_ref'],
    ['base_ref an option of git', { base_ref: '--upload-pack=touch /tmp/x' }, 'body.base_ref'],
    ['base_ref with NUL', { base_ref: 'main\0' }, 'body.base_ref'],
    ['base_ref an unknown commit', { base_ref: 'f'.repeat(40) }, 'body.base_ref'],
    ['model with NUL', { model: 'scripted/playbook\0' }, 'body.model'],
  ]
  test.each(mistakes)(
    '%s',
    async (_, mistake, field) => void expectProblem(await create({ prompt: 'x', ...mistake }), 400, field),
  )

  test('several errors are reported together, including those of the path', async () => {
    const body = { prompt: ' ', repo_id: 'a', tags: 7, budget: { max_steps: 1.5 } }
    const problem = expectProblem(
      await create(body),
      400,
      'body.prompt',
      'body.repo_id',
      'body.tags',
      'body.budget.max_steps',
    )
    expect(problem.code).toBe('invalid_request')
    expect(problem.detail).toContain('prompt')
  })

  test.each(['', 'null', '[]', '"text"', '7', 'true'])('a body that is %s', async body => {
    const headers = { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' }
    const response = await fetch(app.base_url + path(), { method: 'POST', headers, body })
    expectProblem(
      { status: response.status, headers: response.headers, body: await response.json() },
      400,
      'body',
    )
  })

  test('an unknown model, with the list of the available ones', async () => {
    const { detail } = expectProblem(
      await create({ prompt: 'x', model: 'nobody/nothing' }),
      400,
      'body.model',
    )
    expect(detail).toContain('nobody/nothing')
    expect(detail).toContain('scripted/playbook')
  })

  test('an agent that is not installed, with the list of the installed ones', async () => {
    const { detail } = expectProblem(
      await create({ prompt: 'x', agent_type: 'claude_code' }),
      400,
      'body.agent_type',
    )
    expect(detail).toContain('claude_code')
    expect(detail).toContain('built_in')
  })

  test('a playbook that cannot be played, with line and key', async () => {
    const prompt = 'Do it\n\n```playbook\n- run: ls\n- rnu: ls\n```\n'
    const { detail } = expectProblem(await create({ prompt }), 400, 'body.prompt')
    expect(detail).toMatch(/line 5\b/)
    expect(detail).toContain('rnu')
    expectProblem(await create({ prompt: '```playbook\n- run: [\n```' }), 400, 'body.prompt')
  })
})

describe('403', () => {
  test('another organization, even with an invalid body', async () => {
    expectProblem(await app.call('POST', path(other.org_id), { prompt: 'x', repo_id: other.repo_id }), 403)
    expectProblem(await app.call('POST', path(other.org_id), { prompt: '' }), 403)
    expectProblem(await app.call('POST', path(424_242), {}), 403)
  })
})

describe('404', () => {
  test("another organization's repository, with the message for a nonexistent one", async () => {
    const foreign = expectProblem(await create({ prompt: 'x', repo_id: other.repo_id }), 404)
    const unknown = expectProblem(await create({ prompt: 'x', repo_id: 424_242 }), 404)
    expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
  })

  test("another organization's run as parent, with the message for a nonexistent one", async () => {
    const foreign = expectProblem(await create({ prompt: 'x', parent_run_id: other.run_id }), 404)
    const unknown = expectProblem(await create({ prompt: 'x', parent_run_id: 424_242 }), 404)
    expect({ ...foreign, request_id: '' }).toEqual({ ...unknown, request_id: '' })
  })
})
