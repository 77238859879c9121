import type { Authority } from './authority.ts'
import type { Rule } from './rules.ts'

/** The reason of a refusal. `off`: egress is off. `cap`: too many connections, or too many bytes in total. */
export type Reason = 'malformed' | 'off' | 'not_allowed' | 'method' | 'private_address' | 'sni' | 'cap'

/** `host` is the part of the requested host that could be parsed, `why` a sentence that names the rule. */
export type Refusal = {
  host: string | null
  port: number | null
  method: string | null
  reason: Reason
  why: string
}

export type Caps = {
  /** Concurrent connections; at most 128. */
  connections: number
  /** Bytes in both directions over the lifetime of the sandbox. */
  bytes: number
  /**
   * `idle_ms`: the timeout without a byte in either direction. `wait_ms`: the timeout of a request, a DNS
   * response, a connection and the first bytes of a tunnel.
   */
  idle_ms: number
  wait_ms: number
}
export const default_caps: Caps = { connections: 64, bytes: 4 * 1024 ** 3, idle_ms: 120_000, wait_ms: 10_000 }

/** The configuration of one proxy. */
export type ProxyConfiguration = {
  /** Called before each decision; null: egress is off and rules are ignored. Must not reject. */
  rules(): Promise<readonly Rule[] | null>
  /** Returns all addresses of a name. Rejects when there is none. */
  resolve(host: string): Promise<string[]>
  /** Whether a rule may allow private addresses: the operator's choice. */
  allow_private: boolean
  /** The operator's proxy for all connections. */
  upstream: URL | null
  /** The model gateway of the same sandbox, the one address that needs no rule; null: it has none. */
  gateway: Gateway | null
  caps: Caps
  /**
   * Called with the plain text of a request, allowed or not: its head, and its body in overlapping pieces.
   * Must not throw.
   */
  onRequestText(text: string): void
  /** Called for each refusal, immediately. Must not throw. */
  onRefused(refusal: Refusal): void
}

/** The address by which programs in the sandbox know the gateway, and its socket on this machine. */
export type Gateway = { host: string; port: number; socket: string }

/**
 * How a destination may be connected to: at one of these addresses, by the operator's proxy, which resolves
 * the name, or at the socket.
 */
type Way =
  | { kind: 'addresses'; addresses: string[] }
  | { kind: 'upstream'; url: URL }
  | { kind: 'gateway'; socket: string }
export type AllowedTarget = Authority & { way: Way }
