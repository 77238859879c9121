import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

// What `bench/compare/floor.ts` starts: a loop of model and shell that stores nothing. A line of standard
// input is a run: its id and its prompt.
const tools = [{ type: 'function', function: { name: 'shell', parameters: { type: 'object' } } }]
const sandbox = [
  '--ro-bind',
  '/',
  '/',
  '--dev',
  '/dev',
  '--proc',
  '/proc',
  '--tmpfs',
  '/tmp',
  '--unshare-all',
  '--die-with-parent',
]

type Call = { id: string; function: { name: string; arguments: string } }
type Delta = { content?: string; tool_calls?: Call[] }

createInterface({ input: process.stdin }).on('line', async line => {
  const { id, prompt } = JSON.parse(line) as { id: number; prompt: string }
  const shell = openShell()
  const messages: unknown[] = [{ role: 'user', content: prompt }]
  for (;;) {
    const calls = await callModel(messages)
    if (calls.length === 0) break
    messages.push({ role: 'assistant', content: '', tool_calls: calls })
    for (const call of calls)
      messages.push({
        role: 'tool',
        tool_call_id: call.id,
        content: await shell.run((JSON.parse(call.function.arguments) as { command: string }).command),
      })
  }
  shell.end()
  process.stdout.write(`${id}\n`)
})

async function callModel(messages: unknown[]): Promise<Call[]> {
  const response = await fetch(`${process.env.BENCH_MODEL_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'fake', stream: true, messages, tools }),
  })
  if (!response.body) return []
  const calls: Call[] = []
  for (const line of (await text(response.body)).split('\n')) {
    if (!line.startsWith('data: {')) continue
    const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: Delta }[] }
    for (const call of choices[0]?.delta.tool_calls ?? []) {
      const last = calls.at(-1)
      if (call.id !== undefined) calls.push({ ...call, function: { ...call.function } })
      else if (last) last.function.arguments += call.function.arguments
    }
  }
  return calls
}

function openShell(): { run(command: string): Promise<string>; end(): void } {
  const child = spawn('bwrap', [...sandbox, '/bin/bash', '--noprofile', '--norc'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let output = ''
  let waiting: ((output: string) => void) | null = null
  child.stdout.setEncoding('utf8').on('data', chunk => {
    output += chunk
    if (!output.endsWith('\0')) return
    waiting?.(output.slice(0, -1))
    output = ''
  })
  return {
    run: command =>
      new Promise(resolve => {
        waiting = resolve
        child.stdin.write(`${command}\nprintf '\\0'\n`)
      }),
    end: () => child.stdin.end(),
  }
}
