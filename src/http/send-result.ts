import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { z } from 'zod'
import type { WireProfile } from '../contract/organizations/tokens.ts'
import { parseJsonExactly } from '../core/json/json-text.ts'
import { Replay } from '../service/access/idempotency.ts'
import { encodingFor } from './compression.ts'
import { RawResponse } from './results/raw-response.ts'
import { responseFor } from './wire-profile.ts'

/**
 * Sends the result of a verb, worded for the caller's wire profile: `schema` shows where a run's status is in
 * it.
 */
export function sendResult(
  reply: FastifyReply,
  result: unknown,
  profile: WireProfile,
  schema: z.ZodType | 'file',
) {
  if (result instanceof RawResponse) reply.headers(result.headers)
  if (result instanceof RawResponse && typeof result.body !== 'string')
    return sendBytes(reply, result.content_type, result.body)
  if (result instanceof RawResponse) return reply.type(result.content_type).send(result.body)
  const worded = (value: unknown) => (schema === 'file' ? value : responseFor(profile, schema, value))
  reply.type('application/json; charset=utf-8')
  if (!(result instanceof Replay)) return reply.send(JSON.stringify(worded(result)))
  const { text } = result
  reply.header('idempotent-replayed', 'true')
  return reply.send(profile === 'standard' ? text : JSON.stringify(worded(parseJsonExactly(text))))
}

/**
 * Sends bytes that are kept, past the hooks that only matter for what is compressed: headers and bytes are
 * one write.
 */
function sendBytes(reply: FastifyReply, content_type: string, bytes: Buffer) {
  if (encodingFor(reply.request) !== null) return reply.type(content_type).send(bytes)
  reply.hijack()
  const headers = {
    ...reply.getHeaders(),
    'content-type': content_type,
    'content-length': bytes.length,
  } as OutgoingHttpHeaders
  reply.raw.writeHead(200, headers).end(reply.request.method === 'HEAD' ? undefined : bytes)
}
