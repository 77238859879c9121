import type { ApiResponse, App } from '../../start-app.ts'
import type { Call } from './every-endpoint.ts'

/**
 * Sends one request with this token, or without one. A stream is closed after its head, and has no body here.
 */
export async function sendCall(
  app: App,
  {
    method,
    path,
    body,
    headers: more = {},
  }: Pick<Call, 'method' | 'path'> & { body?: unknown; headers?: Record<string, string | undefined> },
  token: string | null,
): Promise<ApiResponse> {
  const headers = new Headers()
  for (const [name, value] of Object.entries(more)) if (value !== undefined) headers.set(name, value)
  if (token !== null) headers.set('authorization', `Bearer ${token}`)
  if (body !== undefined) headers.set('content-type', 'application/json')
  const response = await fetch(app.base_url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return { status: response.status, headers: response.headers, body: undefined }
  }
  const text = await response.text()
  const is_json = /^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: is_json ? JSON.parse(text) : text }
}
