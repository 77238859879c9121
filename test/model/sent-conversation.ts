import type { SeenRequest } from './fake-server.ts'

type Json = Record<string, unknown>
type Call = { id: string; name: string }
type Result = { id: string; text: string }
/**
 * A request in any of the four wire formats. `fixed`: instructions and tools; `parts`: the conversation in
 * the order of its bytes, without cache marks; `marked`: the numbers of the parts with a mark, after `fixed`
 * ones, which count as one. Google's calls have no ids: they are numbered.
 */
export type SentConversation = {
  fixed: string
  parts: string[]
  marked: number[]
  calls: Call[]
  results: Result[]
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? value : [])
const withoutMark = ({ cache_control: _mark, ...part }: Json): Json => part

/**
 * Reads what a provider gets. Two requests whose parts are equal have the same bytes if both bodies are
 * `compact`.
 */
export function sentConversation({ body }: Pick<SeenRequest, 'body'>): SentConversation {
  if (body.contents !== undefined) return fromGoogle(body)
  if (body.input !== undefined) return fromResponses(body)
  return body.system === undefined ? fromChat(body) : fromAnthropic(body)
}

function fromAnthropic({ system, tools, messages }: Json): SentConversation {
  const blocks = list(messages).flatMap(({ role, content }) => list(content).map(block => ({ role, block })))
  return {
    fixed: JSON.stringify([list(system).map(withoutMark), tools]),
    parts: blocks.map(({ role, block }) => JSON.stringify([role, withoutMark(block)])),
    marked: blocks.flatMap(({ block }, n) => (block.cache_control === undefined ? [] : [n])),
    calls: blocks.flatMap(({ block }) =>
      block.type === 'tool_use' ? [{ id: String(block.id), name: String(block.name) }] : [],
    ),
    results: blocks.flatMap(({ block }) =>
      block.type === 'tool_result' ? [{ id: String(block.tool_use_id), text: String(block.content) }] : [],
    ),
  }
}

function fromResponses({ input, tools }: Json): SentConversation {
  const [instructions, ...items] = list(input)
  return {
    fixed: JSON.stringify([instructions, tools]),
    parts: items.map(item => JSON.stringify(item)),
    marked: [],
    calls: items.flatMap(({ type, call_id, name }) =>
      /_call$/.test(String(type)) ? [{ id: String(call_id), name: String(name) }] : [],
    ),
    results: items.flatMap(({ type, call_id, output }) =>
      /_call_output$/.test(String(type)) ? [{ id: String(call_id), text: String(output) }] : [],
    ),
  }
}

function fromChat({ messages, tools }: Json): SentConversation {
  const [instructions, ...others] = list(messages)
  return {
    fixed: JSON.stringify([instructions, tools]),
    parts: others.map(message => JSON.stringify(withoutMark(message))),
    marked: others.flatMap(({ cache_control }, n) => (cache_control === undefined ? [] : [n])),
    calls: others.flatMap(({ tool_calls }) =>
      list(tool_calls).map(call => ({ id: String(call.id), name: String(Object(call.function).name) })),
    ),
    results: others.flatMap(({ tool_call_id, content }) =>
      tool_call_id === undefined ? [] : [{ id: String(tool_call_id), text: String(content) }],
    ),
  }
}

function fromGoogle({ contents, systemInstruction, tools }: Json): SentConversation {
  const parts = list(contents).flatMap(({ role, parts }) => list(parts).map(part => ({ role, part })))
  const calls = parts.flatMap(({ part }) =>
    part.functionCall === undefined ? [] : [String(Object(part.functionCall).name)],
  )
  const results = parts.flatMap(({ part }) =>
    part.functionResponse === undefined ? [] : [Object(part.functionResponse)],
  )
  return {
    fixed: JSON.stringify([systemInstruction, tools]),
    parts: parts.map(({ role, part }) => JSON.stringify([role, part])),
    marked: [],
    calls: calls.map((name, n) => ({ id: `${n} ${name}`, name })),
    results: results.map(({ name, response }, n) => ({
      id: `${n} ${name}`,
      text: String(response.content ?? response.error),
    })),
  }
}
