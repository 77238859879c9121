import type { WebAccess, WebPage } from '../../agent/tools/web-access.ts'
import { deadline } from '../../core/deadline.ts'
import { htmlText } from '../../html/html-text.ts'

const TIMEOUT_MS = 30_000
const MAX_BYTES = 2 * 1024 ** 2
const MAX_REDIRECTS = 5
const HTML = ['text/html', 'application/xhtml+xml']
const NOT_CONVERTED = {
  timeout: 'Its HTML takes too long to convert to text.',
  memory: 'Its HTML needs too much memory to convert to text.',
  error: 'Its HTML cannot be converted to text.',
}
const TEXT = /^(?:text\/|application\/(?:[a-z0-9.+-]*\+)?(?:json|xml|yaml|javascript|x-yaml|x-ndjson|toml)$)/

/**
 * Returns the web as the agent of a run may read it: `fetch` decides about each address, also of a redirect.
 * No request has credentials.
 */
export function createWebAccess(organization_id: number, fetch: typeof globalThis.fetch): WebAccess {
  const of = { organization_id, fetch }
  return async (url, signal) => {
    using limit = deadline(TIMEOUT_MS, signal)
    try {
      return await readPage(of, url, limit.signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      return { error: limit.passed ? `It did not respond within ${TIMEOUT_MS / 1_000} s.` : reasonOf(error) }
    }
  }
}

type Reader = { organization_id: number; fetch: typeof globalThis.fetch }

async function readPage(
  { organization_id, fetch }: Reader,
  first: string,
  signal: AbortSignal,
): Promise<WebPage> {
  let url = URL.parse(first)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    if (url === null || !['http:', 'https:'].includes(url.protocol))
      return { error: 'It is not an http or https address.' }
    if (url.username !== '' || url.password !== '')
      return { error: 'An address with credentials is not requested.' }
    const headers = {
      accept: 'text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1',
      'user-agent': 'agentrun',
    }
    const response = await fetch(url.href, { headers, signal })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || location === null)
      return pageOf(response, { organization_id, url: url.href }, signal)
    await response.body?.cancel()
    url = URL.parse(location, url.href)
  }
  return { error: `It redirects more than ${MAX_REDIRECTS} times.` }
}

async function pageOf(
  response: Response,
  { organization_id, url }: { organization_id: number; url: string },
  signal: AbortSignal,
): Promise<WebPage> {
  const [type = '', ...parameters] = (response.headers.get('content-type') ?? 'text/plain')
    .split(';')
    .map(part => part.trim().toLowerCase())
  if (!TEXT.test(type) && !HTML.includes(type)) {
    await response.body?.cancel()
    return { error: `It responded with ${response.status} and ${type.slice(0, 100)}, which is not text.` }
  }
  const { bytes, cut } = await readBytes(response)
  const content = decoderOf(parameters).decode(bytes)
  const converted = HTML.includes(type)
    ? await htmlText(organization_id, { html: content, url }, signal)
    : { ok: true as const, value: { text: content, cut: false } }
  if (!converted.ok) return { error: NOT_CONVERTED[converted.why] }
  const { text, cut: is_cut } = converted.value
  return { url, status: response.status, text: text.toWellFormed(), cut: cut || is_cut }
}

async function readBytes({ body }: Response): Promise<{ bytes: Uint8Array; cut: boolean }> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body ?? []) {
    pieces.push(piece)
    length += piece.length
    if (length >= MAX_BYTES) break
  }
  return { bytes: Buffer.concat(pieces).subarray(0, MAX_BYTES), cut: length >= MAX_BYTES }
}

function decoderOf(parameters: string[]) {
  const charset = parameters
    .find(parameter => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '')
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}

/** The reason of a failed request is the cause of what `fetch` throws. */
const reasonOf = (error: unknown): string => {
  const { cause, message } = error instanceof Error ? error : { cause: null, message: String(error) }
  return `It cannot be read: ${cause instanceof Error ? cause.message : message}.`
}
