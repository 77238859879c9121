import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openAgentSession } from '../../src/acp/agent-session.ts'
import type { JsonChannel } from '../../src/core/json/channels.ts'
import { giteaForge } from '../../src/forge/gitea/gitea.ts'
import { githubForge } from '../../src/forge/github/github.ts'
import { createModelGateway } from '../../src/gateway/gateway.ts'
import { readMcpFile } from '../../src/mcp/mcp-file.ts'
import { openAddress, openProgram } from '../../src/mcp/open-server.ts'
import { serveTools } from '../../src/mcp/serve-tools.ts'
import { beginSignIn } from '../../src/mcp/sign-in/begin.ts'
import { projectAt } from '../../src/setup-detection/tree.ts'
import { deliver } from '../forge/deliver.ts'
import { PROTOCOLS, type Protocol, request } from '../model/protocols.ts'
import type { App } from '../start-app.ts'
import { printingSandbox } from './printing-sandbox.ts'

/**
 * A way by which a stranger sends JSON. `message` puts a text where the libraries check most; `send` resolves
 * with what the sender, the person or the trace gets. `quiet`: a text that exceeds a bound counts as none
 * there, without a reason.
 */
export type Channel = {
  name: string
  bounds: JsonChannel
  /** The service parses more itself, of which nothing is passed on. */
  parses?: JsonChannel
  quiet?: true
  /** A message within the bounds is not a response, and is waited for. */
  waits?: true
  message(json: string): string
  send(message: string): Promise<string>
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
const redact = async (text: string) => text
const limits = () => ({ timeout_ms: 20_000, signal: AbortSignal.timeout(20_000), redact })

/** Bodies of the service itself. `hook`: the address of deliveries of a connected forge. */
export function httpChannels(app: App, hook: string): Channel[] {
  const post = (path: string) => async (body: string) => {
    const headers = {
      authorization: `Bearer ${app.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const response = await fetch(app.base_url + path, { method: 'POST', headers, body })
    return `${response.status} ${await response.text()}`
  }
  const at = `/v1/organizations/${app.org_id}`
  const mcp = (method: string, params: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
  const initialize = (json: string) =>
    mcp(
      'initialize',
      `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1","icons":${json}}}`,
    )
  const delivered = async (body: string) =>
    JSON.stringify(
      (await deliver(hook, 'issue_comment', null, { as: 'gitea', body: Buffer.from(body) })).body,
    )
  return [
    {
      name: 'a run',
      bounds: 'api_body',
      message: json => `{"prompt":"x","images":${json}}`,
      send: post(`${at}/agent/run`),
    },
    {
      name: 'metadata',
      bounds: 'api_body',
      message: json => `{"prompt":"","metadata":${json}}`,
      send: post(`${at}/agent/run`),
    },
    { name: 'settings', bounds: 'api_body', message: json => json, send: post(`${at}/agent/run/resume`) },
    { name: 'initialize of MCP', bounds: 'api_body', message: initialize, send: post('/mcp') },
    {
      name: 'a tool call of MCP',
      bounds: 'api_body',
      message: json => mcp('tools/call', `{"name":"list_agent_runs","arguments":{"status":${json}}}`),
      send: post('/mcp'),
    },
    {
      name: 'a signed delivery',
      bounds: 'forge_delivery',
      message: json => `{"action":"created","comment":${json}}`,
      send: delivered,
    },
  ]
}

/** A program in a sandbox that speaks to the gateway: the model, and an MCP server of its run. */
export async function gatewayChannels(): Promise<AsyncDisposable & { channels: Channel[] }> {
  const served = serveTools('tools', [], async () => ({ text: '', images: [], is_error: false }))
  const gateway = createModelGateway({
    endpoint: {
      api: 'openai-chat',
      name: 'm',
      base_url: 'http://127.0.0.1:9',
      api_key: null,
      cost: () => null,
      fetch,
    },
    meter: {
      start: async () => ({ refused: 'Nothing is sent.' }),
      ended: async () => {},
      dropped: async () => {},
      refusal: () => null,
      reachedLimit: () => null,
      refused() {},
      progressed() {},
    },
    timeouts: { first_byte_ms: 5_000, idle_ms: 5_000, total_ms: 5_000 },
    tools: (_server, message) => served(message),
    onFailure() {},
  })
  await once(gateway.server.listen(0, '127.0.0.1'), 'listening')
  const { port } = gateway.server.address() as AddressInfo
  const post = (path: string) => async (body: string) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
    return response.text()
  }
  const tools = (json: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":${json}}}`
  return {
    channels: [
      {
        name: 'a request to the model',
        bounds: 'gateway_request',
        message: json => `{"model":"m","messages":${json}}`,
        send: post('/v1/chat/completions'),
      },
      { name: 'a request to a tool', bounds: 'mcp_request', message: tools, send: post('/mcp/tickets') },
    ],
    async [Symbol.asyncDispose]() {
      gateway.close()
    },
  }
}

/** An agent of another vendor, and a program that speaks MCP. */
export function programChannels(): Channel[] {
  const agent = async (message: string) => {
    const sandbox = printingSandbox(() => message)
    const program = { sandbox, servers: [], command: 'agent', ...limits() }
    const opening = openAgentSession({ ...program, on_update() {}, on_permission: async () => 'deny' }, null)
    return opening.then(() => 'opened', textOf)
  }
  const server = async (message: string) => {
    const sandbox = printingSandbox(({ id, method }) => {
      if (id === undefined) return null
      if (method !== 'initialize') return message.replace('"ID"', JSON.stringify(id))
      return JSON.stringify({
        jsonrpc: '2.0',
        id,
        result: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'a', version: '1' },
        },
      })
    })
    return openProgram(sandbox, { command: 'a', args: [], environment: {} }, limits()).then(
      () => 'opened',
      textOf,
    )
  }
  const asked = (params: string) =>
    `{"jsonrpc":"2.0","id":"ID","method":"session/request_permission","params":${params}}`
  return [
    {
      name: 'the result of an agent',
      bounds: 'agent_message',
      message: json => `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":${json}}}`,
      send: agent,
    },
    {
      name: 'options of a permission',
      bounds: 'agent_message',
      message: json =>
        `${asked(`{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":${json}}`)}\n{"jsonrpc":"2.0","id":0,"result":{}}`,
      send: agent,
    },
    {
      name: 'the tools of a program',
      bounds: 'mcp_message',
      message: json => `{"jsonrpc":"2.0","id":"ID","result":{"tools":${json}}}`,
      send: server,
    },
  ]
}

/** A server that responds to everything with the text of the current channel. */
export async function serverChannels(): Promise<AsyncDisposable & { channels: Channel[] }> {
  let type = 'application/json'
  let body = ''
  const respond: RequestListener = async (incoming, response) => {
    let text = ''
    for await (const piece of incoming) text += piece
    const id = /"id":(\d+)/.exec(text)?.[1] ?? '0'
    response.writeHead(200, { 'content-type': type }).end(body.replace('"ID"', id))
  }
  const server = createServer(
    (incoming, response) => void Promise.resolve(respond(incoming, response)).catch(() => {}),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const serving =
    (work: () => Promise<unknown>, as = 'application/json') =>
    (message: string) => {
      type = as
      body = message
      return work().then(() => 'accepted', textOf)
    }
  const address = { url, headers: {}, credential: null, credential_header: null, oauth: null, sign_in: null }
  const open = () => openAddress((at, init) => fetch(at, init), address, limits())
  const sign_in = { url, client: null, issuer: null, scope: null, redirect_url: `${url}/back`, state: 's' }
  const begin = () =>
    beginSignIn({ fetch: (at, init) => fetch(at, init), allow_private: true }, sign_in).then(found => {
      if ('problem' in found) throw new Error(found.problem)
    })
  const forge = { token: 't', fetch: (at: string, init?: object) => fetch(at, init), user_agent: 'test' }
  const gitea = giteaForge({ ...forge, url })
  const github = githubForge({
    origin: url,
    credentials: { token: 't' },
    fetch: forge.fetch,
    user_agent: 'test',
  })
  const result = (json: string) => `{"jsonrpc":"2.0","id":"ID","result":${json}}`
  const repo = { owner: 'acme', name: 'app' }
  const list = (json: string) => json
  return {
    channels: [
      {
        name: 'a response of an MCP server',
        bounds: 'mcp_message',
        waits: true,
        message: result,
        send: serving(open),
      },
      {
        name: 'an event of an MCP server',
        bounds: 'mcp_message',
        waits: true,
        message: json => `data: ${result(json)}\n\n`,
        send: serving(open, 'text/event-stream'),
      },
      {
        name: 'metadata of a sign-in',
        bounds: 'oauth_response',
        message: json => `{"resource":"${url}","scopes_supported":${json}}`,
        send: serving(begin),
      },
      {
        name: 'a response of Gitea',
        bounds: 'forge_response',
        message: list,
        send: serving(() => gitea.findPullRequest(repo, 'one')),
      },
      {
        name: 'a response of GitHub',
        bounds: 'forge_response',
        message: list,
        send: serving(() => github.identity()),
      },
    ],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const EVENTS: Record<string, (json: string) => string> = {
  'openai-compatible': json => `{"id":"1","choices":[{"index":0,"delta":{"tool_calls":${json}}}]}`,
  openai: json =>
    `{"type":"response.output_item.done","output_index":0,"item":{"type":"file_search_call","id":"1","queries":${json}}}`,
  anthropic: json =>
    `{"type":"message_start","message":{"id":"1","model":"m","content":${json},"usage":{"input_tokens":1,"output_tokens":1}}}`,
  google: json => `{"candidates":[{"content":{"parts":${json}}}]}`,
}

/** Events of a model in each wire format, and an error of it. */
export function modelChannels(): Channel[] {
  const called =
    (protocol: Protocol, reply: (message: string) => Parameters<Protocol['connect']>[0]) =>
    async (message: string) => {
      await using fake = await protocol.connect(reply(message))
      return await fake.model.call(request()).then(() => 'answered', textOf)
    }
  return PROTOCOLS.flatMap((protocol): Channel[] => [
    {
      name: `an event of ${protocol.name}`,
      bounds: 'model_event',
      parses: protocol.name === 'openai' ? 'model_summary' : 'model_event',
      message: json => EVENTS[protocol.name]?.(json) ?? json,
      send: called(protocol, message => () => ({ raw: [`data: ${message}\n\n`] })),
    },
    {
      name: `an error of ${protocol.name}`,
      bounds: 'model_error',
      quiet: true,
      message: json => `{"error":{"message":"no","type":"x","details":${json}}}`,
      send: called(protocol, message => () => ({ status: 400, body: message })),
    },
  ])
}

/** Files that somebody has committed. */
export const fileChannels = (): Channel[] => [
  {
    name: 'the servers of a repository',
    bounds: 'repository_file',
    quiet: true,
    message: json => `{"mcpServers":${json}}`,
    send: async text => readMcpFile(text).notes.join(' '),
  },
  {
    name: 'a manifest of a repository',
    bounds: 'repository_file',
    quiet: true,
    message: json => `{"scripts":${json}}`,
    send: async text =>
      typeof projectAt({ paths: ['package.json'], files: new Map([['package.json', text]]) }, '').json(
        'package.json',
      ),
  },
]
