import { storedJson } from '../core/json/stored-json.ts'
import { SCRIPTED_MODEL_ID } from '../core/runs/playbook.ts'
import {
  type Model,
  ModelError,
  type ModelRequest,
  type ModelResponse,
  without_limits,
} from '../model/port.ts'

const free = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_usd: '0', raw: null }

/**
 * Returns a model that makes one tool call and then finishes. `call_text`: the prompt of the run,
 * `{"tool_name", "arguments"}` as JSON. Whether the call exists is read from the conversation, so that it is
 * never repeated.
 */
export function createToolCallModel(call_text: string): Model {
  return {
    id: SCRIPTED_MODEL_ID,
    scripted: true,
    ...without_limits,
    price: () => '0',
    call: request => respond(call_text, request),
  }
}

async function respond(call_text: string, { messages, signal }: ModelRequest): Promise<ModelResponse> {
  if (signal?.aborted) throw new ModelError('aborted', 'The call was stopped.')
  const call = { id: 'call_1', ...readCall(call_text) }
  if (messages.some(message => message.role === 'assistant')) {
    const text = `The call of ${call.name} has ended.`
    return {
      text,
      reasoning: null,
      tool_calls: [],
      finish_reason: 'stop',
      usage: free,
      messages: [{ role: 'assistant', content: text }],
    }
  }
  const part = { type: 'tool-call' as const, toolCallId: call.id, toolName: call.name, input: call.input }
  const response = [{ role: 'assistant' as const, content: [part] }]
  return {
    text: '',
    reasoning: null,
    tool_calls: [call],
    finish_reason: 'tool_calls',
    usage: free,
    messages: response,
  }
}

function readCall(text: string): { name: string; input: Record<string, unknown> } {
  try {
    const { tool_name, arguments: input } = storedJson<{
      tool_name: string
      arguments: Record<string, unknown>
    }>(text)
    return { name: tool_name, input }
  } catch {
    throw new ModelError(
      'script_failed',
      'The tool call cannot be read: the value of a secret was removed from its JSON.',
    )
  }
}
