import {
  type AuthProvider,
  ClientCredentialsProvider,
  type FetchLike,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { createBackgroundRedactor } from '../redaction/background-redactor.ts'
import type { Sandbox } from '../sandbox/port.ts'
import type { AccessTokens } from './access-tokens.ts'
import { connectServer, type McpConnection } from './connection.ts'
import { McpError } from './mcp-error.ts'
import { meteredFetch } from './metered-fetch.ts'
import { type Program, programTransport } from './sandbox-transport.ts'
import { createServerTraffic, type ServerTraffic } from './server-traffic.ts'

type OpenOptions = Parameters<typeof connectServer>[1]

/**
 * An address that speaks MCP. `credential` null: it needs none; with `oauth` it is the secret of the client,
 * with `sign_in` it is not sent.
 */
export type Address = {
  url: string
  headers: Readonly<Record<string, string>>
  credential: string | null
  credential_header: string | null
  oauth: { client_id: string; issuer: string; scope: string | null } | null
  sign_in: AccessTokens | null
}

/** A revision without `initialize`, which a program may be the only one to speak. */
const MODERN = { pin: '2026-07-28' } as const

/**
 * Starts a program in the sandbox and connects to it. `signal` ends the connection too. It is started again
 * for the revision without `initialize` if it refuses that: some programs end at a request that they do not
 * know, so it cannot be tried first.
 */
export async function openProgram(
  sandbox: Sandbox,
  program: Program,
  opening: OpenOptions,
): Promise<McpConnection> {
  const open = (mode: 'legacy' | typeof MODERN) =>
    connectServer({ ...programTransport(sandbox, program, opening.signal), mode }, opening)
  try {
    return await open('legacy')
  } catch (error) {
    if (!(error instanceof McpError) || !error.responded) throw error
    return await open(MODERN).catch(() => {
      throw error
    })
  }
}

/**
 * Connects to an address. `fetch` decides what may be reached: every request passes it, also those for a
 * token.
 */
export async function openAddress(
  fetch: FetchLike,
  address: Address,
  opening: OpenOptions,
): Promise<McpConnection> {
  const url = URL.parse(address.url)
  if (url === null) throw new McpError('failed', 'Its address is not a URL.')
  const client = await clientOf(address, url)
  const traffic = createServerTraffic()
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: meteredFetch(fetch, traffic),
    requestInit: { headers: headersOf(address) },
    ...(client !== null && { authProvider: client }),
    onInsufficientScope: 'throw',
    reconnectionOptions: {
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 10_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 2,
    },
  })
  bound(transport, traffic)
  const endSession = () => transport.terminateSession()
  const link = { transport, traffic, over: null, mode: 'auto', endSession } as const
  return connectServer(
    client === null ? link : { ...link, redacted: value => client.redacted(value) },
    opening,
  )
}

/**
 * Passes only the messages to the client that it needs, and ends the connection when there are too many. The
 * SDK sets its handler several times.
 */
function bound(transport: Transport, traffic: ServerTraffic): void {
  let handler: Transport['onmessage']
  const receive: Transport['onmessage'] = (message, extra) => {
    const received = traffic.receive(message, response => transport.send(response))
    if (!(received instanceof Promise)) handler?.(received, extra)
  }
  Object.defineProperty(transport, 'onmessage', {
    get: () => handler && receive,
    set(next: Transport['onmessage']) {
      handler = next
    },
  })
  traffic.signal.addEventListener('abort', () => void transport.close().catch(() => {}), { once: true })
}

/**
 * The tokens of a client are not secrets that are set, so nothing else redacts them. With one the agent could
 * call the address without this service.
 */
class IssuedTokens {
  readonly #issued = new Set<string>()
  #redactor = createBackgroundRedactor([])

  add(...tokens: (string | undefined)[]): void {
    const before = this.#issued.size
    for (const token of tokens) if (token !== undefined) this.#issued.add(token)
    if (this.#issued.size > before)
      this.#redactor = createBackgroundRedactor(
        [...this.#issued].map(value => ({ name: 'ACCESS_TOKEN', value })),
      )
  }

  redacted<T>(value: T): Promise<T> {
    return this.#redactor.value(value, 'known')
  }
}

class RedactingClient extends ClientCredentialsProvider {
  readonly #issued = new IssuedTokens()

  override saveTokens(tokens: StoredOAuthTokens): void {
    this.#issued.add(tokens.access_token, tokens.refresh_token)
    super.saveTokens(tokens)
  }

  redacted<T>(value: T): Promise<T> {
    return this.#issued.redacted(value)
  }
}

/** Sends the token of a sign-in, and renews one that the server rejects once per request. */
function signedInClient(tokens: AccessTokens): AuthProvider & Pick<RedactingClient, 'redacted'> {
  const issued = new IssuedTokens()
  let sent: string | null = null
  return {
    async token() {
      sent = await tokens.current()
      issued.add(sent)
      return sent
    },
    onUnauthorized: () => tokens.replace(sent),
    redacted: value => issued.redacted(value),
  }
}

function headersOf({
  headers,
  credential,
  credential_header,
  oauth,
  sign_in,
}: Address): Record<string, string> {
  if (credential === null || oauth !== null || sign_in !== null) return { ...headers }
  return credential_header === null
    ? { ...headers, authorization: `Bearer ${credential}` }
    : { ...headers, [credential_header]: credential }
}

async function clientOf({ credential, oauth, sign_in }: Address, url: URL) {
  if (sign_in !== null) {
    if (new URL(await sign_in.url()).href !== url.href)
      throw new McpError('failed', 'Its sign-in is for another address.')
    return signedInClient(sign_in)
  }
  if (credential === null || oauth === null) return null
  const { client_id, issuer, scope } = oauth
  const client = { clientId: client_id, clientSecret: credential, expectedIssuer: issuer }
  return new RedactingClient({ ...client, ...(scope !== null && { scope }) })
}
