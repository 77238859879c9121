/**
 * The default rate limits, which the operator can change: requests in a sliding window of seconds
 * (specification.md#rate-limits).
 */
export const bucketLimits = {
  standard: { requests: 60, seconds: 30 },
  agent_creation: { requests: 10, seconds: 60 },
  /** Creations by all tokens and sessions of a user together, in one organization. */
  user_creation: { requests: 30, seconds: 60 },
  setup_commands: { requests: 5, seconds: 60 },
  log_analysis: { requests: 5, seconds: 60 },
  tool_execution: { requests: 30, seconds: 60 },
  /** Reports of recorded sessions, which send every line of their log. */
  recording: { requests: 1_000, seconds: 60 },
  /** Counts every request of a token, and refuses the logs endpoint alone. */
  token_total: { requests: 60, seconds: 60 },
} as const

/** The owner whose requests a bucket counts together. */
export const bucketOwner = {
  standard: 'token',
  agent_creation: 'token',
  user_creation: 'user in an organization',
  setup_commands: 'organization',
  log_analysis: 'organization',
  tool_execution: 'user in an organization',
  recording: 'token',
  token_total: 'token',
} as const satisfies Record<keyof typeof bucketLimits, string>
