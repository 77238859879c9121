import { expect, test } from 'vitest'
import { exampleMessage, WebhookMessage } from '../../contract/webhooks/webhook-messages.ts'
import { messageText, webhookEventOf } from './webhook-event.ts'

test('each event is sent under one name, the end of a run under its own, and internal events are not sent', () => {
  expect(webhookEventOf('agent_run.created', { status: 'queued' })).toBe('agent_run.created')
  for (const status of ['queued', 'running', 'waiting', 'paused', 'cancelling'])
    expect(webhookEventOf('agent_run.status', { status })).toBe('agent_run.status')
  for (const status of ['completed', 'failed', 'cancelled'])
    expect(webhookEventOf('agent_run.status', { status })).toBe('agent_run.finished')
  expect(webhookEventOf('agent_run.pull_request', {})).toBe('agent_run.pull_request')
  for (const type of ['agent_run.updated', 'agent_run.limits_near', 'agent_run.deleted'])
    expect(webhookEventOf(type, {})).toBeNull()
})

test('a message is exactly the stored one, with its name, its time and its link', () => {
  const { web_url, ...data } = exampleMessage.data
  const text = messageText(
    exampleMessage.type,
    new Date(exampleMessage.timestamp),
    JSON.stringify(data),
    web_url,
  )
  expect(JSON.parse(text)).toEqual(exampleMessage)
  expect(messageText('x', new Date(0), '{"metadata":{"n":12345678901234567890.10}}', 'u')).toContain(
    '"n":12345678901234567890.10}',
  )
})

test('the example of the reference is a message', () => {
  expect(WebhookMessage.strict().parse(exampleMessage)).toEqual(exampleMessage)
})
