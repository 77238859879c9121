import type { ModelAnswer, ModelMessage } from '../model/port.ts'
import type { BackgroundRedactor } from '../redaction/port.ts'

/** Redacts an answer before it is stored and sent back. Reasoning that redaction changes is dropped: its provider has signed it and rejects other text. */
export async function redactedAnswer(answer: ModelAnswer, { value }: BackgroundRedactor): Promise<ModelAnswer> {
  const clean = await value(answer)
  if (clean === answer) return answer
  return { ...clean, messages: clean.messages.map((message, i) => withoutChangedReasoning(message, answer.messages[i])) }
}

function withoutChangedReasoning(clean: ModelMessage, original: ModelMessage | undefined): ModelMessage {
  if (clean.role !== 'assistant' || typeof clean.content === 'string') return clean
  const before = original?.content
  const same = (i: number) => Array.isArray(before) && JSON.stringify(before[i]) === JSON.stringify(clean.content[i])
  return { ...clean, content: clean.content.filter((part, i) => part.type !== 'reasoning' || same(i)) }
}
