import type { Bucket } from '../../contract/endpoint.ts'

/** Requests in a sliding window; null: no limit. */
export type Rate = { requests: number; seconds: number } | null
/**
 * The windows of specification.md#rate-limits. `session` replaces `standard` for the browser's tokens, which
 * have no total.
 */
export type Rates = Record<
  | 'standard'
  | 'agent_creation'
  | 'user_creation'
  | 'setup_commands'
  | 'log_analysis'
  | 'tool_execution'
  | 'recording'
  | 'token_total'
  | 'session',
  Rate
>
type RateName = keyof Rates

/** A window that a request is charged to. One with `refuses` false only counts. */
export type Charge = { name: RateName; subject: string; rate: NonNullable<Rate>; refuses: boolean }
export type Window = {
  name: RateName
  rate: NonNullable<Rate>
  used: number
  reset_ms: number
  retry_ms: number
}

/**
 * Up to this number every request is recorded with its own time; above it, requests are counted in hundredths
 * of the window.
 */
const exact_requests = 1_000

/** Returns the microseconds within which requests are counted together. */
export function sliceOf({ requests, seconds }: NonNullable<Rate>): number {
  return requests <= exact_requests ? 1 : seconds * 10_000
}

/**
 * Returns the windows that a request is charged to, by its bucket and its caller. `known`: a repeated request
 * whose first attempt is charged already (specification.md#create-and-resume).
 */
export function chargesOf(
  rates: Rates,
  bucket: Bucket,
  who: { token_id: number; user_id: number; browser: boolean; organization_id: number | null },
  known: boolean,
): Charge[] {
  const charge = (name: RateName, subject: string, refuses = true): Charge[] => {
    const rate = rates[name]
    return rate === null ? [] : [{ name, subject, rate, refuses }]
  }
  const token = `token ${who.token_id}`
  // Per organization as well, so that a credential of the user in another organization cannot use up the
  // limit here.
  const user =
    who.organization_id === null
      ? `user ${who.user_id}`
      : `user ${who.user_id} organization ${who.organization_id}`
  const general = who.browser ? 'session' : 'standard'
  const own = bucket === 'logs' || (bucket === 'agent_creation' && known) ? 'standard' : bucket
  const total = who.browser ? [] : charge('token_total', token, bucket === 'logs')
  if (own === 'standard') return [...charge(general, token), ...total]
  if (own === 'agent_creation') return [...charge(own, token), ...charge('user_creation', user), ...total]
  if (own === 'tool_execution') return [...charge(own, user), ...total]
  // Not charged to the total: recording a session must not prevent its token from reading logs.
  if (own === 'recording') return charge(own, token)
  // A user without an organization is not charged to one: nobody can use up the share of another
  // organization.
  return [
    ...(who.organization_id === null ? [] : charge(own, `organization ${who.organization_id}`)),
    ...total,
  ]
}

/**
 * Returns the headers of a response. `X-RateLimit-*` describes the window with the least room, `RateLimit`
 * every charged window.
 */
export function rateHeaders(
  windows: Window[],
  refusing: (window: Window) => boolean,
): Record<string, string> {
  if (windows.length === 0) return {}
  const seconds = (ms: number) => Math.ceil(ms / 1000)
  const left = (window: Window) => Math.max(0, window.rate.requests - window.used)
  const tightest = windows
    .filter(refusing)
    .reduce((one, other) => (left(other) < left(one) ? other : one), windows[0] as Window)
  return {
    'ratelimit-policy': windows
      .map(({ name, rate }) => `"${name}";q=${rate.requests};w=${rate.seconds}`)
      .join(', '),
    ratelimit: windows
      .map(window => `"${window.name}";r=${left(window)};t=${seconds(window.reset_ms)}`)
      .join(', '),
    'x-ratelimit-limit': String(tightest.rate.requests),
    'x-ratelimit-remaining': String(left(tightest)),
    'x-ratelimit-reset': String(seconds(tightest.reset_ms)),
  }
}
