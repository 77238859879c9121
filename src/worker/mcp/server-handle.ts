import type { Redact } from '../../core/secrets/quote.ts'
import type { McpConnection } from '../../mcp/connection.ts'
import { McpError } from '../../mcp/mcp-error.ts'
import type { RunServer } from '../../mcp/run-servers.ts'
import type { Sandbox } from '../../sandbox/port.ts'

/** What servers are reached with. `signal`: ends all of them. */
export type Reach = { sandbox(): Promise<Sandbox>; fetch: typeof globalThis.fetch; signal: AbortSignal }

/** A server of a run. Disposing ends it. */
export type ServerHandle = AsyncDisposable & {
  readonly server: RunServer
  /**
   * Returns the open connection, or opens one if it has ended or failed. Rejects with McpError, or as
   * `sandbox` does.
   */
  connection(): Promise<McpConnection>
  /** The connection failed at a call: the next one opens another. */
  fail(): void
}

/** How often a server is started in a turn: one that ends at each call is not started for ever. */
const MAX_STARTS = 4
/** A run waits with its first request for all servers, also one whose calls may take an hour. */
const MAX_START_MS = 120_000

export function createServerHandle(server: RunServer, reach: Reach & { redact: Redact }): ServerHandle {
  let current: McpConnection | null = null
  let opening: Promise<McpConnection> | null = null
  let failed = false
  let starts = 0
  let opened = false
  const reopen = async () => {
    await current?.[Symbol.asyncDispose]()
    current = null
    if (starts >= MAX_STARTS)
      throw new McpError(
        'failed',
        `It has failed ${starts} times in this turn, so it is not started again before the next one.`,
      )
    starts++
    failed = false
    current = await open(server, reach)
    // The tools of a turn are those of its first connection.
    if (opened) current.takeTools()
    opened = true
    return current
  }
  return {
    server,
    async connection() {
      if (current !== null && !failed && !current.hasEnded()) return current
      opening ??= reopen().finally(() => {
        opening = null
      })
      return opening
    },
    fail() {
      failed = true
    },
    async [Symbol.asyncDispose]() {
      await opening?.catch(() => {})
      await current?.[Symbol.asyncDispose]()
    },
  }
}

/** Loads the client with the first server: most processes need none of its megabytes. */
async function open(
  { target, timeout_ms }: RunServer,
  { sandbox, fetch, signal, redact }: Reach & { redact: Redact },
): Promise<McpConnection> {
  const { openAddress, openProgram } = await import('../../mcp/open-server.ts')
  const opening = { timeout_ms: Math.min(timeout_ms, MAX_START_MS), signal, redact }
  if ('address' in target) return openAddress(fetch, target.address, opening)
  return openProgram(await sandbox(), target.program, opening)
}
