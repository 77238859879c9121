import type { FakeReply, FakeScript, SeenRequest } from '../../model/fake-server.ts'

/** What a request takes of a window: four characters a token. */
export const tokensOf = ({ body }: Pick<SeenRequest, 'body'>): number =>
  Math.ceil(JSON.stringify(body).length / 4)

/**
 * A model server that counts the tokens of each request, and refuses those above its window as its provider
 * does.
 */
export const windowed =
  (window_tokens: number, script: FakeScript): FakeScript =>
  async (request, n): Promise<FakeReply> => {
    const input = tokensOf(request)
    if (input > window_tokens) return contextExceeded(window_tokens)
    const reply = await script(request, n)
    return 'status' in reply || 'raw' in reply || 'stall' in reply
      ? reply
      : { ...reply, usage: { input, output: 50 } }
  }

const contextExceeded = (window_tokens: number): FakeReply => ({
  status: 400,
  body: {
    error: {
      message: `This model's maximum context length is ${window_tokens} tokens`,
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
    },
  },
})

type Message = { role: string; content?: unknown; tool_calls?: { id: string }[]; tool_call_id?: string }
export const messagesOf = ({ body }: Pick<SeenRequest, 'body'>) => body.messages as Message[]

/** Whether the request is for a summary of the conversation, not for the next step. */
export const isSummaryRequest = (request: Pick<SeenRequest, 'body'>): boolean =>
  JSON.stringify(messagesOf(request).at(-1)).includes('Answer with the summary alone')

/** Calls without a result and results without a call. */
export function orphansOf(request: Pick<SeenRequest, 'body'>): string[] {
  const calls = messagesOf(request).flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? [])
  const results = messagesOf(request).flatMap(({ tool_call_id }) => tool_call_id ?? [])
  return [...calls.filter(id => !results.includes(id)), ...results.filter(id => !calls.includes(id))]
}
