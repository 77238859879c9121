import type { Authority } from './authority.ts'
import type { Rule } from './rules.ts'

/** Why something was refused. `off`: nothing is allowed at all. `cap`: too many connections at once, or too many bytes in all. */
export type Reason = 'malformed' | 'off' | 'not_allowed' | 'method' | 'private_address' | 'sni' | 'cap'

/** `host` is what was asked for as far as it could be read, `why` a sentence that names the rule. */
export type Refusal = { host: string | null; port: number | null; method: string | null; reason: Reason; why: string }

export type Caps = {
  /** Connections at once; 128 at most. */
  connections: number
  /** Bytes in both directions, from the start to the end of the sandbox. */
  bytes: number
  /** Without a byte in either direction, and until a request, an answer of a name server, a connection or the first bytes of a tunnel are there. */
  idle_ms: number
  wait_ms: number
}
export const usual_caps: Caps = { connections: 64, bytes: 4 * 1024 ** 3, idle_ms: 120_000, wait_ms: 10_000 }

/** What one proxy works by. */
export type Policy = {
  /** Asked before each decision; null: nothing may go out, whatever stands in lists. Must not reject. */
  rules(): Promise<readonly Rule[] | null>
  /** All addresses of a name. Rejects when there is none. */
  resolve(host: string): Promise<string[]>
  /** Whether private addresses may be reached where a rule allows the name: by the operator's choice. */
  allow_private: boolean
  /** Everything goes by this proxy of the operator's. */
  upstream: URL | null
  caps: Caps
  /** Told of what a request says in the clear, allowed or not: its head, and what goes out of its body, in pieces that overlap. Must not throw. */
  onSaid(text: string): void
  /** Told of each refusal, at once. Must not throw. */
  onRefused(refusal: Refusal): void
}

/** What may be connected to: to one of `addresses` and nothing else; null: the operator's proxy resolves the name. */
export type Allowed = Authority & { addresses: string[] | null }
