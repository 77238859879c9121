import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Endpoint, methodsOf } from '../../contract/endpoint.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { forgeKinds } from '../../contract/repositories/forges.ts'
import type { Services } from '../../service/context.ts'
import { manifestForm } from '../../service/forges/app-manifest.ts'
import { receiveDelivery, requireReceiver } from '../../service/forges/receive-delivery.ts'
import type { FailedTokens } from '../failed-tokens.ts'
import { parseJsonBody } from '../json-body.ts'
import { parseInput } from '../parse-input.ts'

/**
 * Receives deliveries of forges (specification.md#access). Everybody may send one: the body is read for an
 * existing connection and a signature, and parsed when the signature, which covers its bytes, was verified.
 */
export function addHookRoutes(
  app: FastifyInstance,
  { services, failed }: { services: Services; failed: FailedTokens },
) {
  const received = { github: endpoints.receiveGitHub, gitea: endpoints.receiveGitea }
  for (const kind of forgeKinds) {
    const endpoint = received[kind]
    const delivered = ({ params, headers }: FastifyRequest) => ({
      connection_id: (
        parseInput({ ...endpoint, body: null }, { params, query: {}, body: null }).params as {
          connection_id: number
        }
      ).connection_id,
      header: (name: string) => [headers[name]].flat()[0],
    })
    app.route({
      method: endpoint.method,
      url: endpoint.path.replace(/\{(\w+)\}/g, ':$1'),
      config: { keeps_bytes: true },
      onRequest: async request => {
        failed.requireSmallBody(request)
        await requireReceiver(services, kind, delivered(request)).catch(error =>
          Promise.reject(failed.refuse(request.ip, error)),
        )
      },
      handler: async request => {
        const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const payload = async () => payloadOf(endpoint, await parseJsonBody(bytes, 'forge_delivery'))
        const received = { ...delivered(request), bytes, payload }
        return receiveDelivery(services, kind, received).catch(error =>
          Promise.reject(failed.refuse(request.ip, error)),
        )
      },
    })
  }
  const queryOf = (endpoint: Endpoint, request: FastifyRequest) =>
    parseInput(endpoint, { params: {}, query: request.query as Record<string, unknown>, body: undefined })
      .query
  const openManifest = async (request: FastifyRequest, reply: FastifyReply) => {
    const { state } = queryOf(endpoints.openGitHubManifest, request) as { state: string }
    const { origin, action, manifest } = manifestForm(services, state)
    const form = `<form action="${escaped(action)}" method="post"><input type="hidden" name="manifest" value="${escaped(manifest)}">
<p>GitHub will show you what the app may do.</p><button autofocus>Create the app on ${escaped(new URL(origin).host)}</button></form>`
    return reply
      .header('content-security-policy', policy(origin))
      .type(HTML)
      .send(page('Create a GitHub App', form))
  }
  app.route({
    method: methodsOf(endpoints.openGitHubManifest),
    url: endpoints.openGitHubManifest.path,
    handler: openManifest,
  })
}

const payloadOf = (endpoint: Endpoint, body: unknown) =>
  parseInput({ ...endpoint, params: z.object({}) }, { params: {}, query: {}, body }).body

const HTML = 'text/html; charset=utf-8'
const policy = (form_action: string) =>
  `default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action ${form_action}`
const page = (title: string, body: string) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${title}</title><meta name="viewport" content="width=device-width">
<h1>${title}</h1>
${body}
</html>
`
const escaped = (text: string) => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
