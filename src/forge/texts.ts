import { MAX_UNREDACTED_CHARS } from '../core/text/truncate.ts'

/** Returns a text of at most `chars` characters. */
export const cut = (text: string, chars: number) =>
  text.length > chars ? `${text.slice(0, chars - 1).toWellFormed()}…` : text

/** Returns a message of a forge, on one line. */
export const shown = (text: string) =>
  text.replace(/\s+/g, ' ').trim().slice(0, MAX_UNREDACTED_CHARS).toWellFormed()

/**
 * Returns the output of a check from its parts, without the absent ones. It is redacted before it is
 * shortened for an entry.
 */
export const outputOf = (parts: (string | null | undefined)[]) =>
  parts
    .filter(part => part)
    .join('\n\n')
    .toWellFormed()
