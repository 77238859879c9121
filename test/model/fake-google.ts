import {
  type FakeResponse,
  type FakeScript,
  type FakeServer,
  splitText,
  sse,
  startFakeServer,
} from './fake-server.ts'

/**
 * Google's streamGenerateContent on loopback. Function calls come whole in one chunk and carry a thought
 * signature.
 */
export async function startFakeGoogle(script: FakeScript): Promise<FakeServer & { base_url: string }> {
  const server = await startFakeServer(script, googleEvents)
  return { ...server, base_url: `${server.origin}/v1beta` }
}

export function* googleEvents(response: FakeResponse): Iterable<string> {
  const {
    reasoning = '',
    text = '',
    tool_calls: calls = [],
    split,
    usage = { input: 100, output: 20 },
  } = response
  const chunk = (parts: unknown[], finishReason?: string) =>
    sse({
      candidates: [
        { content: { role: 'model', parts }, index: 0, ...(finishReason ? { finishReason } : {}) },
      ],
      responseId: 'r1',
      ...(finishReason && usage ? { usageMetadata: counted } : {}),
    })
  const counted = usage && {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
    ...(usage.cached ? { cachedContentTokenCount: usage.cached } : {}),
  }
  for (const piece of splitText(reasoning, split)) yield chunk([{ text: piece, thought: true }])
  for (const piece of splitText(text, split)) yield chunk([{ text: piece }])
  const reasons = { stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY' }
  const parts = calls.map((call, index) => ({
    functionCall: { ...(call.id ? { id: call.id } : {}), name: call.name, args: call.arguments },
    ...(index === 0 ? { thoughtSignature: 'signed-call' } : {}),
  }))
  yield chunk(parts, reasons[response.finish ?? 'stop'])
}
