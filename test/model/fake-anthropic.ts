import {
  argumentText,
  type FakeResponse,
  type FakeScript,
  type FakeServer,
  type SeenRequest,
  splitText,
  sse,
  startFakeServer,
} from './fake-server.ts'

/**
 * Anthropic's messages API on loopback, as an event stream. Thinking blocks carry a signature; the usage
 * names cache reads and writes.
 */
export async function startFakeAnthropic(script: FakeScript): Promise<FakeServer & { base_url: string }> {
  const server = await startFakeServer(script, anthropicEvents)
  return { ...server, base_url: `${server.origin}/v1` }
}

export function* anthropicEvents(response: FakeResponse, { n }: Pick<SeenRequest, 'n'>): Iterable<string> {
  const {
    reasoning = '',
    text = '',
    tool_calls: calls = [],
    split,
    usage = { input: 100, output: 20 },
  } = response
  const event = (type: string, fields: Record<string, unknown> = {}) => sse({ type, ...fields }, type)
  const cached = usage?.cached ?? 0
  const written = usage?.cache_write ?? 0
  const input_tokens = (usage?.input ?? 0) - cached - written
  const started = {
    input_tokens,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: 1,
  }
  yield event('message_start', {
    message: {
      id: `msg_${n}`,
      type: 'message',
      role: 'assistant',
      model: 'fake',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: started,
    },
  })
  yield event('ping')
  let index = 0
  function* block(content_block: Record<string, unknown>, deltas: Record<string, unknown>[]) {
    yield event('content_block_start', { index, content_block })
    for (const delta of deltas) yield event('content_block_delta', { index, delta })
    yield event('content_block_stop', { index })
    index++
  }
  if (reasoning) {
    const deltas = splitText(reasoning, split).map(thinking => ({ type: 'thinking_delta', thinking }))
    yield* block({ type: 'thinking', thinking: '', signature: '' }, [
      ...deltas,
      { type: 'signature_delta', signature: `signed-${n}` },
    ])
  }
  if (text)
    yield* block(
      { type: 'text', text: '' },
      splitText(text, split).map(piece => ({ type: 'text_delta', text: piece })),
    )
  for (const [at, call] of calls.entries()) {
    const deltas = splitText(argumentText(call), split).map(partial_json => ({
      type: 'input_json_delta',
      partial_json,
    }))
    yield* block({ type: 'tool_use', id: call.id ?? `toolu_${n}_${at}`, name: call.name, input: {} }, deltas)
  }
  const reasons = {
    stop: 'end_turn',
    tool_calls: 'tool_use',
    length: 'max_tokens',
    content_filter: 'refusal',
  }
  const stop_reason = reasons[response.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')]
  yield event('message_delta', {
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: usage?.output ?? 0 },
  })
  yield event('message_stop')
}
