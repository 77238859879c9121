/** A secret value, and the name of its placeholder. */
export type KnownValue = { name: string; value: string }

/** Minimum bytes of a value that redaction searches for: shorter values occur in any text. */
export const SHORTEST_SECRET = 8
