import { limits } from '../contract/limits.ts'
import { invalid } from '../core/service-error.ts'
import { jsonMistake, parseJsonExactly } from '../core/text/json-text.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses a JSON body from its bytes: strict UTF-8 without a byte order mark, bounded depth, every key once.
 * Returns undefined for an empty body. Throws 400 with what is wrong.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const text = decode(bytes)
  if (text.startsWith('\uFEFF')) throw refused('begins with a byte order mark; JSON has none')
  const mistake = jsonMistake(text, limits.body_depth, limits.body_values)
  if (mistake !== null) throw refused(mistake)
  try {
    const body: unknown = JSON.parse(text)
    // The one value that is echoed keeps numbers that a double cannot represent; other fields reject numbers that large.
    if (isObject(body) && Object.hasOwn(body, 'metadata')) body.metadata = (parseJsonExactly(text) as typeof body).metadata
    return body
  } catch (error) {
    throw refused(`is not JSON: ${error instanceof Error ? error.message.slice(0, 200).toWellFormed() : ''}`)
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw refused('is not UTF-8')
  }
}

const refused = (what: string) => invalid(['body'], what, 'json_invalid')
