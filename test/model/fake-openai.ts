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
 * OpenAI's two wire formats on loopback: chat completions under `/v1/chat/completions` (also what
 * OpenAI-compatible servers speak) and the Responses API under `/v1/responses`. `script` returns the
 * response; every request is kept with its time.
 */
export async function startFakeOpenAI(script: FakeScript): Promise<FakeServer & { base_url: string }> {
  const server = await startFakeServer(script, (result, request) =>
    request.path.endsWith('/responses') ? responsesEvents(result, request) : chatEvents(result, request),
  )
  return { ...server, base_url: `${server.origin}/v1` }
}

/** The chunk of a chat completion with one choice, as one event. */
export function chatChunk(delta: Record<string, unknown>, finish_reason: string | null = null): string {
  return sse({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'fake',
    choices: [{ index: 0, delta, finish_reason }],
  })
}

export function* chatEvents(result: FakeResponse, { n }: Pick<SeenRequest, 'n'>): Iterable<string> {
  const {
    reasoning = '',
    text = '',
    refusal = '',
    tool_calls: calls = [],
    split,
    usage = { input: 100, output: 20 },
  } = result
  yield chatChunk({ role: 'assistant', content: '' })
  for (const piece of splitText(reasoning, split)) yield chatChunk({ reasoning_content: piece })
  for (const piece of splitText(text, split)) yield chatChunk({ content: piece })
  for (const piece of splitText(refusal, split)) yield chatChunk({ refusal: piece })
  for (const [index, call] of calls.entries()) {
    yield chatChunk({
      tool_calls: [
        {
          index,
          id: call.id ?? `call_${n}_${index}`,
          type: 'function',
          function: { name: call.name, arguments: '' },
        },
      ],
    })
  }
  const pieces = calls.map(call => splitText(argumentText(call), split))
  for (let round = 0; pieces.some(of => round < of.length); round++) {
    for (const [index, of] of pieces.entries()) {
      if (of[round] !== undefined)
        yield chatChunk({ tool_calls: [{ index, function: { arguments: of[round] } }] })
    }
  }
  yield chatChunk({}, result.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'))
  if (usage) {
    const { input, output, cached = 0 } = usage
    const counted = {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    }
    yield sse({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'fake',
      choices: [],
      usage: counted,
    })
  }
  yield sse('[DONE]')
}

export function* responsesEvents(result: FakeResponse, { n }: Pick<SeenRequest, 'n'>): Iterable<string> {
  const {
    reasoning = '',
    text = '',
    refusal = '',
    tool_calls: calls = [],
    split,
    usage = { input: 100, output: 20 },
  } = result
  const events: string[] = []
  let sequence_number = 0
  const emit = (type: string, fields: Record<string, unknown>) =>
    events.push(sse({ type, sequence_number: sequence_number++, ...fields }, type))
  const response = {
    id: `resp_${n}`,
    object: 'response',
    created_at: 1,
    model: 'fake',
    status: 'in_progress',
    output: [],
  }
  emit('response.created', { response })
  emit('response.in_progress', { response })
  let output_index = 0
  if (reasoning) {
    const item_id = `rs_${n}`
    emit('response.output_item.added', {
      output_index,
      item: { id: item_id, type: 'reasoning', summary: [], encrypted_content: 'sealed-start' },
    })
    emit('response.reasoning_summary_part.added', {
      item_id,
      output_index,
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    })
    for (const delta of splitText(reasoning, split))
      emit('response.reasoning_summary_text.delta', { item_id, output_index, summary_index: 0, delta })
    emit('response.reasoning_summary_part.done', {
      item_id,
      output_index,
      summary_index: 0,
      part: { type: 'summary_text', text: reasoning },
    })
    const item = {
      id: item_id,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: reasoning }],
      encrypted_content: `sealed-${n}`,
    }
    emit('response.output_item.done', { output_index, item })
    output_index++
  }
  if (text || refusal) {
    const item_id = `msg_${n}`
    const phase = result.phase && { phase: result.phase }
    const item = {
      id: item_id,
      type: 'message',
      role: 'assistant',
      status: 'in_progress',
      content: [] as unknown[],
      ...phase,
    }
    emit('response.output_item.added', { output_index, item })
    for (const delta of splitText(text, split))
      emit('response.output_text.delta', { item_id, output_index, content_index: 0, delta })
    for (const delta of splitText(refusal, split))
      emit('response.refusal.delta', { item_id, output_index, content_index: 0, delta })
    const content = refusal
      ? [{ type: 'refusal', refusal }]
      : [{ type: 'output_text', text, annotations: [] }]
    emit('response.output_item.done', { output_index, item: { ...item, status: 'completed', content } })
    output_index++
  }
  for (const [index, call] of calls.entries()) {
    const item_id = `fc_${n}_${index}`
    const call_id = call.id ?? `call_${n}_${index}`
    if (call.custom) {
      const item = {
        id: item_id,
        type: 'custom_tool_call',
        call_id,
        name: call.name,
        input: '',
        status: 'in_progress',
      }
      emit('response.output_item.added', { output_index, item })
      for (const delta of splitText(argumentText(call), split))
        emit('response.custom_tool_call_input.delta', { item_id, output_index, delta })
      emit('response.custom_tool_call_input.done', { item_id, output_index, input: argumentText(call) })
      emit('response.output_item.done', {
        output_index,
        item: { ...item, input: argumentText(call), status: 'completed' },
      })
      output_index++
      continue
    }
    const item = {
      id: item_id,
      type: 'function_call',
      call_id,
      name: call.name,
      arguments: '',
      status: 'in_progress',
    }
    emit('response.output_item.added', { output_index, item })
    for (const delta of splitText(argumentText(call), split))
      emit('response.function_call_arguments.delta', { item_id, output_index, delta })
    emit('response.function_call_arguments.done', { item_id, output_index, arguments: argumentText(call) })
    emit('response.output_item.done', {
      output_index,
      item: { ...item, arguments: argumentText(call), status: 'completed' },
    })
    output_index++
  }
  const counted = usage && {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached ?? 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  }
  const reason =
    result.finish === 'length'
      ? 'max_output_tokens'
      : result.finish === 'content_filter'
        ? 'content_filter'
        : null
  const type = reason ? 'response.incomplete' : 'response.completed'
  emit(type, {
    response: {
      ...response,
      status: reason ? 'incomplete' : 'completed',
      incomplete_details: reason && { reason },
      usage: counted,
    },
  })
  yield* events
}
