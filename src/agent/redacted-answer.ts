import type { BackgroundRedactor } from '../core/redaction/background-redactor.ts'
import type { ModelAnswer, ModelMessage } from '../model/port.ts'

/** The answer as it is kept and said again. Reasoning that had to be changed is left out: its provider has signed it, and refuses another. */
export async function redactedAnswer(answer: ModelAnswer, { value }: BackgroundRedactor): Promise<ModelAnswer> {
  const clean = await value(answer)
  if (clean === answer) return answer
  return { ...clean, messages: clean.messages.map((message, i) => withoutChangedReasoning(message, answer.messages[i])) }
}

function withoutChangedReasoning(clean: ModelMessage, said: ModelMessage | undefined): ModelMessage {
  if (clean.role !== 'assistant' || typeof clean.content === 'string') return clean
  const before = said?.content
  const same = (i: number) => Array.isArray(before) && JSON.stringify(before[i]) === JSON.stringify(clean.content[i])
  return { ...clean, content: clean.content.filter((part, i) => part.type !== 'reasoning' || same(i)) }
}
