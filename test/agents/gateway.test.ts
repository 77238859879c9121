import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createModelGateway } from '../../src/gateway/gateway.ts'
import type { GatewayEnd } from '../../src/gateway/meter.ts'
import { startFakeOpenAI } from '../model/fake-openai.ts'
import type { FakeReply } from '../model/fake-server.ts'

/** Sends one call of a program by the gateway to a model that responds so. */
async function callBy(response: FakeReply): Promise<{ status: number; text: string; ends: GatewayEnd[] }> {
  await using model = await startFakeOpenAI(() => response)
  const ends: GatewayEnd[] = []
  const { server, close } = createModelGateway({
    endpoint: {
      api: 'openai-chat',
      name: 'fake',
      base_url: model.base_url,
      api_key: 'key',
      cost: () => null,
      fetch,
    },
    meter: {
      start: async () => ({
        key: '1',
        reservation: { model: 'fake', input_tokens: 10, output_tokens: 10, cost_usd: null },
        has_tools: false,
      }),
      dropped: async () => {},
      ended: async (_, end) => void ends.push(end),
      refused() {},
      refusal: () => null,
      reachedLimit: () => null,
      progressed() {},
    },
    timeouts: { first_byte_ms: 300, idle_ms: 300, total_ms: 3_000 },
    onFailure: error => expect.unreachable(String(error)),
    tools: async () => null,
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const body = JSON.stringify({ model: 'fake', stream: true, messages: [] })
    const received = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: 'POST', body })
    return { status: received.status, text: await received.text(), ends }
  } finally {
    close()
  }
}

test('a model that sends nothing is an error that the program can read, and may have cost', async () => {
  const { status, text, ends } = await callBy({ stall: 'before_headers' })
  expect({ status, message: JSON.parse(text).error.message }).toEqual({
    status: 504,
    message: 'The model sent nothing within 300 ms.',
  })
  expect(ends).toMatchObject([{ kind: 'failed', may_cost: true }])
})
