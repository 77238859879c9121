import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { openApiDocument } from '../../src/contract/openapi.ts'
import { webhook_events } from '../../src/contract/organizations/webhook-events.ts'
import {
  exampleMessage,
  message_limits,
  WebhookMessage,
} from '../../src/contract/webhooks/webhook-messages.ts'
import { webhookHeaders } from '../../src/core/webhooks/webhook-request.ts'
import { RETRY_SECONDS } from '../../src/core/webhooks/webhook-retries.ts'
import { clone } from '../source-tree.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const text = readFileSync(join(clone, 'docs/how-to/webhooks.md'), 'utf8')
const block = (language: string) =>
  new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\n\`\`\``).exec(text)?.[1] ?? ''

test('the message of the page is valid, and equal to that of the reference', () => {
  expect(WebhookMessage.strict().parse(JSON.parse(block('json')))).toEqual(exampleMessage)
})

test('the page names every event, the schedule of attempts, and the limit of a response', () => {
  for (const name of webhook_events) expect(text).toContain(`| \`${name}\` |`)
  expect(text).toContain(`| seconds | ${RETRY_SECONDS.join(' | ')} |`)
  expect(text).toContain(`the first ${message_limits.result_chars.toLocaleString('en')} characters`)
})

test('F121 the receiver of the page accepts signed messages, also with two secrets, and no altered, old or foreign ones', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'verify.mjs')
  writeFileSync(file, block('js'))
  const { verify } = (await import(pathToFileURL(file).href)) as { verify: (...given: unknown[]) => boolean }
  const [secret, before, other] = [1, 2, 3].map(n => `whsec_${Buffer.alloc(24, n).toString('base64')}`)
  const now = 1_750_000_000_000
  const [id, body] = ['msg_1', '{"a":"ü"}']
  const headers = webhookHeaders([secret ?? '', before ?? ''], id, now, body)
  for (const known of [secret, before]) expect(verify(known, headers, body, now)).toBe(true)
  expect(verify(secret, headers, body, now + 299_000)).toBe(true)
  expect(verify(other, headers, body, now)).toBe(false)
  expect(verify(secret, headers, `${body} `, now)).toBe(false)
  for (const late of [-6, 6]) expect(verify(secret, headers, body, now + late * 60_000)).toBe(false)
  expect(verify(secret, { ...headers, 'webhook-id': 'msg_2' }, body, now)).toBe(false)
  expect(verify(secret, { ...headers, 'webhook-signature': undefined }, body, now)).toBe(false)
  expect(verify(secret, webhookHeaders([], id, now, body), body, now)).toBe(false)
})

test('the document describes what is sent, with a message that fits its own schema', () => {
  const document = openApiDocument({ base_url: 'http://service.test', version: '1' }) as {
    webhooks: {
      'agent-run-event': {
        post: { requestBody: { content: { 'application/json': { schema: unknown; example: unknown } } } }
      }
    }
    components: { schemas: Record<string, unknown> }
  }
  const { schema, example } =
    document.webhooks['agent-run-event'].post.requestBody.content['application/json']
  const ajv = addFormats.default(new Ajv2020({ strict: false }))
  const validate = ajv.compile({ ...(schema as object), components: document.components })
  expect([validate(example), validate.errors]).toEqual([true, null])
  expect(validate({ ...(example as object), type: 'no_such' })).toBe(false)
})
