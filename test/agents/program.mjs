// A small program that speaks the Agent Client Protocol. The prompt says what it does: lines of `do:
// argument`, one after another.

import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

const gateway = process.env.GATEWAY
const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const update = update => send({ method: 'session/update', params: { sessionId: 's', update } })
const say = text => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
let calls = 0
let repeated = false
let current = ''
let waiting = null
let responding = null
let prompting = null
let running = null
let ignoring = false

// With SESSIONS `load` or `resume` it offers to continue sessions: it stores the number of prompts and the
// steps that are left in its home folder. CONTINUING: `works`, `fails`, `is silent`, `exits`, or `breaks`,
// which fails at the first prompt. REPEATS: the updates that it repeats then.
const { SESSIONS, CONTINUING = 'works', REPEATS = '0' } = process.env
const folder = `${process.env.HOME}/.sessions`
let session = { id: 's', prompts: 0, left: [] }
let broken = false
let servers = []
function store(changes) {
  session = { ...session, ...changes }
  if (!SESSIONS) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/${session.id}`, JSON.stringify(session))
}
function open({ id, params }) {
  servers = params.mcpServers
  if (SESSIONS) session = { id: `s-${Date.now()}-${process.pid}`, prompts: 0, left: [] }
  send({ id, result: { sessionId: session.id } })
}
function continueSession({ id, params }) {
  if (CONTINUING === 'is silent') return
  if (CONTINUING === 'exits') process.exit(4)
  if (CONTINUING === 'fails') return send({ id, error: { code: -32002, message: 'Resource not found' } })
  servers = params.mcpServers
  session = JSON.parse(readFileSync(`${folder}/${params.sessionId}`, 'utf8'))
  broken = CONTINUING === 'breaks'
  for (let i = 0; i < Number(REPEATS); i++) {
    say(`repeated ${i}`)
    update({
      sessionUpdate: 'tool_call',
      toolCallId: `r${i}`,
      title: 'bash',
      kind: 'execute',
      status: 'completed',
      rawInput: {},
    })
  }
  send({ id, result: {} })
}

const call = (path, body, headers) => post(gateway + path, body, headers)
async function post(url, body, headers = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: response.status, text: await response.text() }
}
const chat = more =>
  JSON.stringify({
    model: process.env.MODEL,
    stream: true,
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  })

const MCP_HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }
const toolCall = (name, input, id) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: input },
})

/** Returns the text of the result, or the status of a request that was refused. */
async function mcpCall(server, name, input) {
  const { url } = servers.find(({ name }) => name === server) ?? { url: `${gateway}/mcp/${server}` }
  const { status, text } = await post(url, JSON.stringify(toolCall(name, input, 1)), MCP_HEADERS)
  return status === 200
    ? (JSON.parse(text.replace(/^[^{]*/, '')).result?.content[0].text ?? text)
    : `${status}`
}

/**
 * Counts the requests for a permission of all processes: with UNREAD, the response to that one is not read.
 */
function countRequest() {
  const file = `${process.env.HOME}/.requests`
  appendFileSync(file, '.')
  return readFileSync(file, 'utf8').length
}

function askFor(request) {
  const options = [
    { optionId: 'always', name: 'Always', kind: 'allow_always' },
    { optionId: 'once', name: 'Once', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ]
  const answer = new Promise(resolve => (waiting = resolve))
  // Without a response, the next prompt of the session makes the same call again.
  const { left } = session
  store({ left: [current, ...left] })
  const toolCall = { toolCallId: `p${++calls}`, ...request }
  if (process.env.UNREAD && countRequest() === Number(process.env.UNREAD)) process.stdin.pause()
  send({ id: 'p1', method: 'session/request_permission', params: { sessionId: 's', toolCall, options } })
  return answer.then(result => {
    if (result?.outcome.outcome === 'cancelled') return new Promise(() => {})
    store({ left })
    update({ sessionUpdate: 'tool_call_update', toolCallId: toolCall.toolCallId, status: 'completed' })
    say(`[${JSON.stringify(result?.outcome)}]`)
  })
}

const TOKEN = `ghp_${'Ab3'.repeat(12)}`

const actions = {
  say,
  call: async () => say(`[${(await call('/v1/chat/completions', chat())).status}]`),
  'call model': async name => say(`[${(await call('/v1/chat/completions', chat({ model: name }))).status}]`),
  'call path': async path => say(`[${(await call(path, chat())).status}]`),
  // The gateway may close the connection before the whole body is sent.
  'call bytes': async bytes =>
    say(
      await call('/v1/chat/completions', chat({ padding: 'a'.repeat(Number(bytes)) })).then(
        ({ status }) => `[${status}]`,
        () => '[413]',
      ),
    ),
  'call text': async text => say(`[${(await call('/v1/chat/completions', text)).status}]`),
  'call headers': async () =>
    say(
      `[${(await call('/v1/chat/completions', chat(), { authorization: 'Bearer stolen', 'x-forwarded-host': 'other.test' })).status}]`,
    ),
  'call cut': async () =>
    say(
      await call('/v1/chat/completions', chat()).then(
        () => '[whole]',
        () => '[cut]',
      ),
    ),
  'call leave': () => {
    const gone = new AbortController()
    fetch(`${gateway}/v1/chat/completions`, { method: 'POST', body: chat(), signal: gone.signal }).catch(
      () => {},
    )
    return new Promise(resolve => setTimeout(() => resolve(gone.abort()), 300))
  },
  // The response has begun. The gateway notices it before it responds to the next request.
  'call abort': async text => {
    const gone = new AbortController()
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: text }
    const response = await fetch(`${gateway}/v1/chat/completions`, { ...init, signal: gone.signal })
    await response.body.getReader().read()
    gone.abort()
    await fetch(`${gateway}/v1/models`)
  },
  'call at once': async number => {
    let refused = 0
    const callOne = async () => {
      const { status } = await call('/v1/chat/completions', chat())
      if (status !== 429) return
      refused += 1
      // All but the 32 that may wait: the test sees it in the trace.
      if (refused === number - 32)
        update({
          sessionUpdate: 'tool_call',
          toolCallId: 'refused',
          title: 'refused',
          kind: 'other',
          status: 'completed',
        })
    }
    await Promise.all(Array.from({ length: Number(number) }, callOne))
    say(`[${number - refused} sent, ${refused} refused]`)
  },
  print: text => process.stdout.write(`${text}\n`.repeat(500)),
  'wrong ids': () => send({ id: 99_999, result: {} }),
  // A request to the client that no agent may make.
  'client request': async argument => {
    const [method, params = '{}'] = argument.split(/ (.*)/s)
    const responded = new Promise(resolve => (responding = resolve))
    send({ id: 'q1', method, params: JSON.parse(params) })
    const { error, result } = await responded
    say(`[${error?.code ?? JSON.stringify(result)}]`)
  },
  titled: title =>
    update({
      sessionUpdate: 'tool_call',
      toolCallId: `c${++calls}`,
      title,
      kind: 'other',
      status: 'completed',
      rawInput: {},
    }),
  read: path => {
    const toolCallId = `c${++calls}`
    const started = {
      sessionUpdate: 'tool_call',
      toolCallId,
      title: 'Read',
      kind: 'read',
      rawInput: { path },
    }
    update({ ...started, status: 'in_progress' })
    update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
  },
  'flood calls': number => {
    for (let i = 0; i < Number(number); i++)
      update({
        sessionUpdate: 'tool_call',
        toolCallId: `f${i}`,
        title: 'x',
        kind: 'other',
        status: 'completed',
      })
  },
  'flood plans': number => {
    for (let i = 0; i < Number(number); i++)
      update({ sessionUpdate: 'plan', entries: [{ content: `${i}`, status: 'pending' }] })
  },
  unknown: () => update({ sessionUpdate: 'something_new', value: [1, 2] }),
  exit: code => process.exit(Number(code)),
  // Its last 1,000 characters begin with the second one of a token.
  'exit with a token': () => {
    writeSync(2, `${TOKEN}${' x'.repeat(480)}.`)
    process.exit(3)
  },
  // The first 1,000 characters end within the token, and so do the first 100 of the reason.
  'stop with a token': () => {
    say(`${'x '.repeat(495)}${TOKEN}`)
    return { reason: `${'y '.repeat(45)}${TOKEN}` }
  },
  hang: () => new Promise(() => {}),
  tool: command =>
    new Promise(resolve => {
      const id = `c${++calls}`
      update({
        sessionUpdate: 'tool_call',
        toolCallId: id,
        title: 'bash',
        kind: 'execute',
        status: 'in_progress',
        rawInput: { command },
      })
      const child = spawn('bash', ['-c', command])
      running = child
      let output = ''
      child.stdout.on('data', data => (output += data))
      child.on('close', code => {
        // After a cancellation the call stays open.
        if (prompting === null) return resolve()
        update({
          sessionUpdate: 'tool_call_update',
          toolCallId: id,
          status: code ? 'failed' : 'completed',
          rawOutput: { output },
        })
        resolve()
      })
    }),
  flood: megabytes => {
    const text = 'a'.repeat(1024 * 1024)
    for (let i = 0; i < Number(megabytes); i++) say(text)
  },
  // This number of empty values where the protocol has a few options, and in a request to the model.
  'permission options': async number => {
    const responded = new Promise(resolve => (responding = resolve))
    const options = Array(Number(number)).fill({})
    send({
      id: 'q1',
      method: 'session/request_permission',
      params: { sessionId: 's', toolCall: { toolCallId: 'many' }, options },
    })
    const { error } = await responded
    say(`[${error?.code} ${JSON.stringify(error).length < 300}]`)
  },
  'call values': async number => {
    const { status, text } = await call(
      '/v1/chat/completions',
      chat({ messages: Array(Number(number)).fill({}) }),
    )
    say(`[${status} ${text.length < 300}]`)
  },
  permission: command => askFor({ title: command, kind: 'execute', rawInput: { command } }),
  'permission for': request => askFor(JSON.parse(request)),
  // Only the end of the title differs.
  'permission long': end => askFor({ title: 'a'.repeat(600) + end, kind: 'execute' }),
  'permission and exit': () => {
    send({
      id: 'p1',
      method: 'session/request_permission',
      params: { sessionId: 's', toolCall: { toolCallId: 'p' }, options: [] },
    })
    process.exit(1)
  },
  'requests and read nothing': () => {
    process.stdin.pause()
    for (let id = 0; id < 100_000; id++) send({ id: `r${id}`, method: 'unknown/method' })
    return new Promise(() => {})
  },
  'ignore cancel': () => {
    ignoring = true
    return new Promise(() => {})
  },
  plan: text =>
    update({ sessionUpdate: 'plan', entries: [{ content: text, priority: 'high', status: 'in_progress' }] }),
  stop: reason => ({ reason }),
  servers: () => say(JSON.stringify(servers)),
  mcp: async argument => {
    const [server, name, ...rest] = argument.split(' ')
    say(`[${await mcpCall(server, name, { text: rest.join(' ') })}]`)
  },
  // This number of calls in one request, or each in a request of its own.
  'mcp batch': async argument => {
    const [server, name, number] = argument.split(' ')
    const body = Array.from({ length: Number(number) }, (_, id) => toolCall(name, { text: `${id}` }, id))
    say(`[${(await post(`${gateway}/mcp/${server}`, JSON.stringify(body), MCP_HEADERS)).status}]`)
  },
  'mcp at once': async argument => {
    const [server, name, number] = argument.split(' ')
    const all = Array.from({ length: Number(number) }, (_, id) => mcpCall(server, name, { text: `${id}` }))
    say(`[${(await Promise.all(all)).join()}]`)
  },
  // One that the answer does not wait for, with another that it waits for.
  'mcp beside': async argument => {
    const [server, other, name] = argument.split(' ')
    mcpCall(server, name, { text: 'beside' }).catch(() => {})
    await mcpCall(other, name, { text: 'x' })
  },
  // A process of its own calls the tool and the model without an end; the first response is awaited.
  'mcp forever': argument => {
    const [server, name] = argument.split(' ')
    const init = body =>
      JSON.stringify({
        method: 'POST',
        headers: { 'content-type': 'application/json', ...MCP_HEADERS },
        body,
      })
    const requests = `fetch('${gateway}/mcp/${server}', ${init(JSON.stringify(toolCall(name, { text: 'later' }, 1)))}).then(r => r.text()),
      fetch('${gateway}/v1/chat/completions', ${init(chat())}).then(r => r.text())`
    const script = `for (;;) { await Promise.allSettled([${requests}]); console.log('called') }`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return new Promise(resolve => child.stdout.once('data', resolve))
  },
  // Two calls of each server; other requests are responded to meanwhile, and then the test sees it in the
  // trace.
  'mcp all': async argument => {
    const [name, ...names] = argument.split(' ')
    const all = Promise.all(
      names.flatMap(name => [name, name]).map(server => mcpCall(server, name, { text: 'x' })),
    )
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    for (let i = 0; i < 20; i++) await post(`${gateway}/mcp/${names[0]}`, list, MCP_HEADERS)
    update({
      sessionUpdate: 'tool_call',
      toolCallId: 'sent',
      title: 'sent',
      kind: 'other',
      status: 'completed',
    })
    await all
  },
  'mcp long': async argument =>
    say(`[${await mcpCall(...argument.split(' '), { text: 'a'.repeat(900_000) })}]`),
  'mcp many': async argument =>
    say(`[${await mcpCall(...argument.split(' '), { list: Array(5_000).fill('a'.repeat(180)) })}]`),
  'mcp bytes': async number => say(`[${(await post(servers[0].url, 'a'.repeat(Number(number)))).status}]`),
  session: () => say(`[prompt ${session.prompts}, ${repeated ? 'repeated as text' : 'continued'}]`),
}

async function prompt({ id, params }) {
  prompting = id
  const text = params.prompt.map(part => part.text ?? '').join('\n')
  repeated = text.includes('The conversation so far')
  if (broken) return send({ id, error: { code: -32603, message: 'The session is broken' } })
  const lines = text
    .slice(text.lastIndexOf('do: '))
    .split('\n')
    .filter(line => line.startsWith('do: '))
  const steps = lines.flatMap(line => line.slice(4).split(' | '))
  store({ prompts: session.prompts + 1, left: text.includes('do: ') ? steps : session.left })
  // After a cancellation the steps are those of the next prompt.
  while (prompting === id) {
    const [step, ...left] = session.left
    if (step === undefined) break
    store({ left })
    current = step
    const name = Object.keys(actions)
      .filter(key => step === key || step.startsWith(`${key} `))
      .sort((a, b) => b.length - a.length)[0]
    const outcome = await actions[name](step.slice(name.length + 1))
    if (outcome?.reason) return send({ id, result: { stopReason: outcome.reason } })
  }
  if (prompting === id) send({ id, result: { stopReason: 'end_turn' } })
}

const agentCapabilities = {
  mcpCapabilities: { http: !process.env.NO_HTTP },
  loadSession: SESSIONS === 'load',
  ...(SESSIONS === 'resume' && { sessionCapabilities: { resume: {} } }),
}

createInterface({ input: process.stdin }).on('line', line => {
  const message = JSON.parse(line)
  const { id, method } = message
  if (id === 'p1') return waiting?.(message.result)
  if (id === 'q1') return responding?.(message)
  if (method === process.env.SILENT) return
  if (method === process.env.ODD) return send({ id, result: JSON.parse(process.env.ODD_RESULT) })
  if (method === 'initialize')
    send({
      id,
      result: { protocolVersion: 1, agentInfo: { name: 'Test program', version: '1' }, agentCapabilities },
    })
  if (method === 'session/new') open(message)
  if (method === `session/${SESSIONS}`) continueSession(message)
  if (method === 'session/prompt') prompt(message)
  if (method === 'session/cancel' && prompting !== null && !ignoring) {
    send({ id: prompting, result: { stopReason: 'cancelled' } })
    prompting = null
    running?.kill('SIGKILL')
  }
})
