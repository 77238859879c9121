// An agent that calls the model by the gateway, one call after another, and answers with the milliseconds of
// each call.

import { createInterface } from 'node:readline'

const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

async function timesOf(calls) {
  const body = JSON.stringify({
    model: process.env.MODEL,
    stream: true,
    messages: [{ role: 'user', content: 'Hello' }],
  })
  const times = []
  for (let n = 0; n < calls; n++) {
    const started = performance.now()
    const response = await fetch(`${process.env.GATEWAY}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    await response.text()
    if (!response.ok) throw new Error(`the gateway responded with ${response.status}`)
    times.push(performance.now() - started)
  }
  return times
}

createInterface({ input: process.stdin }).on('line', async line => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } })
  if (method === 'session/new') send({ id, result: { sessionId: 's' } })
  if (method !== 'session/prompt') return
  const [, calls] = /calls: (\d+)/.exec(params.prompt.map(part => part.text ?? '').join('\n')) ?? []
  const text = JSON.stringify(await timesOf(Number(calls)))
  send({
    method: 'session/update',
    params: {
      sessionId: 's',
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
    },
  })
  send({ id, result: { stopReason: 'end_turn' } })
})
