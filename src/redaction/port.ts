import type { Redactor, Scope } from './redact.ts'

declare const is_redacted: unique symbol
/**
 * A value without secrets: a redactor returned it, or it is composed of such values. What is redacted is not
 * searched again.
 */
export type Redacted<T> = T & { readonly [is_redacted]: true }

/**
 * Declares a value that is composed of redacted values, of parts of them, and of texts and numbers of the
 * service itself.
 */
export const composed = <T>(value: T): Redacted<T> => value as Redacted<T>

/**
 * A `Redactor` for texts of any size: small texts are redacted synchronously, large ones on a worker thread,
 * so that nothing else waits for them. Rejects with `RedactionError` when that fails: then no part of the
 * text may be stored or shown.
 */
export type BackgroundRedactor = {
  text(text: string, scope?: Scope): Promise<string>
  bytes(bytes: Uint8Array, gap?: number): Promise<Redacted<Uint8Array>>
  value<T>(value: T): Promise<Redacted<T>>
  value<T>(value: T, scope: Scope): Promise<T>
  json(json: string, scope?: Scope): Promise<string>
  names(text: string): Promise<string[]>
  /** As `stream` of a `Redactor`. */
  stream(live?: boolean): BackgroundStream
  placeholders: Redactor['placeholders']
  /** Synchronous: a value that is too large is replaced by a note. */
  small(value: Record<string, unknown>): Record<string, unknown>
}
export type BackgroundStream = {
  /**
   * Returns the text that can be shown so far. `gap`: text is missing before the piece. One call at a time.
   */
  push(piece: string, gap?: boolean): Promise<string>
  end(): Promise<string>
}

/** A text could not be redacted, so it must not be stored or shown. */
export class RedactionError extends Error {
  override name = 'RedactionError'
}

/** Redacts the values of an object whose keys are words of a protocol or of the service, which stay. */
export async function redactFields<T extends object>(
  redactor: Pick<BackgroundRedactor, 'value'>,
  fields: T,
): Promise<T> {
  const values = await redactor.value(Object.values(fields))
  return Object.fromEntries(Object.keys(fields).map((key, i) => [key, values[i]])) as T
}
