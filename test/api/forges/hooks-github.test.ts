import examples from '@octokit/webhooks-examples' with { type: 'json' }
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ForgeReceipt } from '../../../src/contract/repositories/forges.ts'
import { deliver, SECRET } from '../../forge/deliver.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import * as payloads from '../../forge/github-payloads.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'

// biome-ignore lint/suspicious/noExplicitAny: recorded payloads of many shapes
const recorded = examples as unknown as { name: string; examples: any[] }[]

let app: App
let github: FakeGitHub
let url: string
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
  github = await startFakeGitHub()
  const set = { url: github.url, token: github.token, webhook_secret: SECRET }
  url = (await app.call('PUT', `/v1/organizations/${app.org_id}/integrations/github`, set)).body.webhook_url
})
afterAll(async () => {
  expect(github.mistakes).toEqual([])
  await app[Symbol.asyncDispose]()
  await github[Symbol.asyncDispose]()
})

const reported = () =>
  rows<{ delivery: string; outcome: string | null }>(
    app,
    'select delivery, outcome from forge_deliveries order by received_at',
  )
const mention = (change: Record<string, unknown> = {}) => {
  const payload = payloads.commentBy('ada', '@agent-bot please', { number: 1, id: 98 })
  Object.assign(payload.comment, change)
  return payload
}

describe('200', () => {
  test('every delivery that GitHub publishes as an example is accepted immediately, and recorded once', async () => {
    for (const { name, examples } of recorded)
      for (const payload of examples) {
        const { status, body } = await deliver(url, name, payload)
        expect({ name, status, ...ForgeReceipt.strict().parse(body) }).toMatchObject({
          name,
          status: 200,
          duplicate: false,
        })
      }
    expect(await reported()).toHaveLength(recorded.reduce((sum, { examples }) => sum + examples.length, 0))
  }, 60_000)

  test('F117 the same delivery, and the same comment in another delivery, are duplicates without effect', async () => {
    const payload = mention()
    const first = await deliver(url, 'issue_comment', payload, { delivery: 'one' })
    expect(first.body).toMatchObject({ duplicate: false, queued: true, reason: null })
    for (const delivery of ['one', 'two'])
      expect((await deliver(url, 'issue_comment', payload, { delivery })).body).toMatchObject({
        duplicate: true,
        queued: false,
      })
    const at_once = await Promise.all(
      Array.from({ length: 10 }, () => deliver(url, 'issue_comment', mention({ id: 99 }))),
    )
    expect(at_once.map(({ body }) => body.queued).sort()).toEqual([...Array(9).fill(false), true])
  })

  test('a label that is redelivered under another id is a duplicate, because the id is not signed', async () => {
    const payload = payloads.labeledBy('ada', 'agent-bot', { number: 1 })
    expect((await deliver(url, 'issues', payload, { delivery: 'label-1' })).body).toMatchObject({
      duplicate: false,
      queued: true,
    })
    expect((await deliver(url, 'issues', payload, { delivery: 'label-2' })).body).toMatchObject({
      duplicate: true,
      queued: false,
    })
    payload.issue.updated_at = '2030-01-01T00:00:00Z'
    expect((await deliver(url, 'issues', payload, { delivery: 'label-3' })).body).toMatchObject({
      duplicate: false,
      queued: true,
    })
  })

  test('a delivery older than a day is ignored, even with a valid signature: whether it was processed is unknown', async () => {
    const at = new Date(Date.now() - 25 * 3_600_000).toISOString()
    const location = { number: 1, id: 97, at }
    const reported = [
      await deliver(url, 'issue_comment', payloads.commentBy('ada', '@agent-bot go', location)),
      await deliver(url, 'pull_request_review', payloads.reviewBy('ada', '@agent-bot go', location)),
      await deliver(url, 'pull_request_review_comment', payloads.remarkBy('ada', '@agent-bot go', location)),
      await deliver(url, 'issues', payloads.openedBy('ada', '@agent-bot go', location)),
    ]
    for (const { body } of reported)
      expect(body).toEqual({
        received: true,
        duplicate: false,
        queued: false,
        reason: 'it is older than a day',
      })
  })

  test('a mention in a comment of a template, in code or in a quotation is none, in a comment, a review and a new issue', async () => {
    const reason = 'it mentions @agent-bot only where forges show no mention'
    const location = { number: 1, id: 96 }
    const hidden =
      '<!-- Mention @agent-bot to have it reviewed. -->\r\n``@agent-bot``\r\n<blockquote>@agent-bot</blockquote>'
    const reported = [
      await deliver(url, 'issue_comment', payloads.commentBy('ada', hidden, location)),
      await deliver(url, 'pull_request_review', payloads.reviewBy('ada', hidden, location)),
      await deliver(url, 'pull_request_review_comment', payloads.remarkBy('ada', hidden, location)),
      await deliver(url, 'issues', payloads.openedBy('ada', hidden, location)),
    ]
    for (const { body } of reported)
      expect(body).toEqual({ received: true, duplicate: false, queued: false, reason })
    const far = `${'word '.repeat(13_000)}@agent-bot`
    const { body } = await deliver(
      url,
      'issue_comment',
      payloads.commentBy('ada', far, { number: 1, id: 95 }),
    )
    expect(body).toMatchObject({ queued: true })
  })

  test('a delivery about an unregistered repository ends there, and creates no run', async () => {
    await expect
      .poll(async () => (await reported()).find(({ delivery }) => delivery === 'one')?.outcome, {
        timeout: 10_000,
      })
      .toBe('the repository is not registered')
    expect(await rows(app, 'select 1 from runs')).toEqual([])
  })
})

describe('400', () => {
  test('a signed body that is not a delivery is rejected with the missing fields', async () => {
    expectProblem(await deliver(url, '', {}), 400, 'header.X-GitHub-Event')
    expectProblem(await deliver(url, 'ping', {}, { delivery: 'no id' }), 400, 'header.X-GitHub-Delivery')
    expectProblem(await deliver(url, 'ping', null, { body: Buffer.from('{') }), 400, 'body')
    expectProblem(await deliver(url.replace(/\d+$/, 'x'), 'ping', {}), 400, 'path.connection_id')
  })
})

describe('401', () => {
  test('F116 a forged delivery of any kind leaves nothing behind', async () => {
    const before = await contents(app)
    const payload = mention({ id: 1_234 })
    const body = Buffer.from(JSON.stringify(payload))
    for (const wrong of [
      { signature: null },
      { signature: 'sha256=00' },
      { secret: 'another secret' },
      { signature: `sha1=${'0'.repeat(40)}` },
    ])
      expectProblem(await deliver(url, 'issue_comment', payload, wrong), 401)
    // Signed, and then changed by one space.
    const { createHmac } = await import('node:crypto')
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
    expectProblem(
      await deliver(url, 'issue_comment', payload, {
        signature,
        body: Buffer.concat([body, Buffer.from(' ')]),
      }),
      401,
    )
    expect(await contents(app)).toEqual(before)
  })
})

describe('404', () => {
  test('a nonexistent connection', async () => {
    expectProblem(await deliver(url.replace(/\d+$/, '424242'), 'ping', {}), 404)
  })
})

describe('409', () => {
  test('a connection whose secret can no longer be decrypted', async () => {
    await rows(app, `update forges set key_id = 'lost'`)
    expectProblem(await deliver(url, 'ping', {}), 409)
  })
})

describe('415', () => {
  test('forms are not accepted', async () => {
    expectProblem(await deliver(url, 'ping', {}, { type: 'application/x-www-form-urlencoded' }), 415)
  })
})
