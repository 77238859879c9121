import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'

// The graph that LangGraph's server executes: a model and a shell. It has no client library, whose time would
// be counted as LangGraph's.
const State = Annotation.Root({
  messages: Annotation({ reducer: (before, more) => before.concat(more), default: () => [] }),
})
const tools = [
  {
    type: 'function',
    function: { name: 'shell', parameters: { type: 'object', properties: { command: { type: 'string' } } } },
  },
]

async function model({ messages }) {
  const response = await fetch(`${process.env.BENCH_MODEL_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'fake', stream: true, messages, tools }),
  })
  const message = { role: 'assistant', content: '', tool_calls: [] }
  for (const line of (await response.text()).split('\n')) {
    if (!line.startsWith('data: {')) continue
    const delta = JSON.parse(line.slice(6)).choices[0]?.delta ?? {}
    message.content += delta.content ?? ''
    for (const call of delta.tool_calls ?? []) {
      message.tool_calls[call.index] ??= {
        id: call.id,
        type: 'function',
        function: { name: call.function.name, arguments: '' },
      }
      message.tool_calls[call.index].function.arguments += call.function.arguments
    }
  }
  return { messages: [message] }
}

async function shell({ messages }) {
  const results = messages.at(-1).tool_calls.map(async call => {
    const child = spawn('/bin/bash', ['-c', JSON.parse(call.function.arguments).command], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return { role: 'tool', tool_call_id: call.id, content: await text(child.stdout) }
  })
  return { messages: await Promise.all(results) }
}

export const graph = new StateGraph(State)
  .addNode('model', model)
  .addNode('shell', shell)
  .addEdge(START, 'model')
  .addConditionalEdges('model', ({ messages }) => (messages.at(-1).tool_calls.length > 0 ? 'shell' : END))
  .addEdge('shell', 'model')
  .compile()
