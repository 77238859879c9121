import type { Redactor, Scope } from './redact.ts'

/**
 * A `Redactor` for texts of any size: what is small is redacted at once, what is large on a thread of its own, so that nobody else waits for it.
 * Rejects with `RedactionError` where that cannot be done: then nothing of the text may be kept or shown.
 */
export type BackgroundRedactor = {
  text(text: string, scope?: Scope): Promise<string>
  bytes(bytes: Uint8Array, gap?: number): Promise<Uint8Array>
  value<T>(value: T, scope?: Scope): Promise<T>
  json(json: string, scope?: Scope): Promise<string>
  names(text: string): Promise<string[]>
  stream(): BackgroundStream
  placeholders: Redactor['placeholders']
  /** At once: what is too large for that is left out, and a note stands in its place. */
  small(value: Record<string, unknown>): Record<string, unknown>
}
export type BackgroundStream = {
  /** What can be shown by now. `gap`: something is missing before the piece. One call at a time. */
  push(piece: string, gap?: boolean): Promise<string>
  end(): Promise<string>
}

/** A text could not be redacted, so it must not be kept or shown. */
export class RedactionError extends Error {
  override name = 'RedactionError'
}
