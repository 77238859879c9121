import type { ModelMessage, ModelResponse } from '../model/port.ts'
import { type BackgroundRedactor, composed, type Redacted } from '../redaction/port.ts'

/**
 * Redacts a response before it is stored and sent back. Reasoning that redaction changes is dropped: its
 * provider has signed it and rejects other text.
 */
export async function redactedResponse(
  response: ModelResponse,
  { value }: BackgroundRedactor,
): Promise<Redacted<ModelResponse>> {
  const clean: Redacted<ModelResponse> = await value(response)
  if (clean === response) return clean
  return composed({
    ...clean,
    messages: clean.messages.map((message, i) => withoutChangedReasoning(message, response.messages[i])),
  })
}

function withoutChangedReasoning(clean: ModelMessage, original: ModelMessage | undefined): ModelMessage {
  if (clean.role !== 'assistant' || typeof clean.content === 'string') return clean
  const before = original?.content
  const same = (i: number) =>
    Array.isArray(before) && JSON.stringify(before[i]) === JSON.stringify(clean.content[i])
  return { ...clean, content: clean.content.filter((part, i) => part.type !== 'reasoning' || same(i)) }
}
