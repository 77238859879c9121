import type { JsonChannel } from '../core/json/channels.ts'
import { parseJsonExactly, repeatedKey } from '../core/json/json-text.ts'
import { largeExcessOf, parseCounted } from '../core/json/parse-json.ts'
import { invalid } from '../core/service-error.ts'
import { yieldToOthers } from '../core/yield-to-others.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Others are served between the steps of the work for a body that is larger. */
const LARGE_BYTES = 1024 * 1024

/**
 * Parses a JSON body from its bytes: strict UTF-8 without a byte order mark, within the bounds of its
 * channel, every key once. Resolves with undefined for an empty body. Rejects with 400 and what is wrong.
 */
export async function parseJsonBody(bytes: Buffer, channel: JsonChannel): Promise<unknown> {
  if (bytes.length === 0) return undefined
  const pause = async () => {
    if (bytes.length > LARGE_BYTES) await yieldToOthers()
  }
  const excess = await largeExcessOf(channel, bytes)
  if (excess !== null) throw refused(excess.message)
  const text = decode(bytes)
  if (text.startsWith('\uFEFF')) throw refused('begins with a byte order mark; JSON has none')
  await pause()
  const repeated = repeatedKey(text)
  if (repeated !== null) throw refused(`contains the key ${repeated.slice(0, MAX_SHOWN_KEY)} twice`)
  await pause()
  const body = parsed(text)
  await pause()
  // The one value that is echoed keeps numbers that a double cannot represent; other fields reject numbers
  // that large.
  if (isObject(body) && Object.hasOwn(body, 'metadata'))
    body.metadata = (parseJsonExactly(text) as typeof body).metadata
  return body
}

const MAX_SHOWN_KEY = 100

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw refused('is not UTF-8')
  }
}

function parsed(text: string): unknown {
  const { value, problem } = parseCounted(text)
  if (problem !== undefined) throw refused(problem.message)
  return value
}

const refused = (what: string) => invalid(['body'], what, 'json_invalid')
