/**
 * What a run requests approval of is the head of a push, or a tool call: that has a prefix, because both have
 * 40 digits.
 */
export const CALL = 'call:'

export const approvalOfCall = (digest: string): string => CALL + digest

/** Returns the digest of the call that an approval is for; null: it is for a push. */
export const digestOfCall = (approval: string): string | null =>
  approval.startsWith(CALL) ? approval.slice(CALL.length) : null
