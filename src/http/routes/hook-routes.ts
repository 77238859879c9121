import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Endpoint, methodsOf } from '../../contract/endpoint.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { forgeKinds } from '../../contract/repositories/forges.ts'
import type { Services } from '../../service/context.ts'
import { manifestForm } from '../../service/forges/app-manifest.ts'
import { receiveDelivery } from '../../service/forges/receive-delivery.ts'
import { parseInput } from '../parse-input.ts'

/** Receives deliveries of forges (specification.md#access): signatures cover the raw bytes, so these are kept beside the parsed body. */
export function addHookRoutes(app: FastifyInstance, services: Services) {
  const bytes = new WeakMap<FastifyRequest, Buffer>()
  const received = { github: endpoints.receiveGitHub, gitea: endpoints.receiveGitea }
  for (const kind of forgeKinds) {
    const endpoint = received[kind]
    app.route({
      method: endpoint.method,
      url: endpoint.path.replace(/\{(\w+)\}/g, ':$1'),
      preValidation: async request => {
        if (Buffer.isBuffer(request.body)) bytes.set(request, request.body)
      },
      handler: async request => {
        const { params, body } = parseInput(endpoint, { params: request.params, query: {}, body: request.body })
        const { connection_id } = params as { connection_id: number }
        const header = (name: string) => [request.headers[name]].flat()[0]
        return receiveDelivery(services, kind, { connection_id, header, payload: body, bytes: bytes.get(request) ?? Buffer.alloc(0) })
      },
    })
  }
  const queryOf = (endpoint: Endpoint, request: FastifyRequest) =>
    parseInput(endpoint, { params: {}, query: request.query as Record<string, unknown>, body: undefined }).query
  const openManifest = async (request: FastifyRequest, reply: FastifyReply) => {
    const { state } = queryOf(endpoints.openGitHubManifest, request) as { state: string }
    const { origin, action, manifest } = manifestForm(services, state)
    const form = `<form action="${escaped(action)}" method="post"><input type="hidden" name="manifest" value="${escaped(manifest)}">
<p>GitHub will show you what the app may do.</p><button autofocus>Create the app on ${escaped(new URL(origin).host)}</button></form>`
    return reply.header('content-security-policy', policy(origin)).type(HTML).send(page('Create a GitHub App', form))
  }
  app.route({ method: methodsOf(endpoints.openGitHubManifest), url: endpoints.openGitHubManifest.path, handler: openManifest })
}

const HTML = 'text/html; charset=utf-8'
const policy = (form_action: string) => `default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action ${form_action}`
const page = (title: string, body: string) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${title}</title><meta name="viewport" content="width=device-width">
<h1>${title}</h1>
${body}
</html>
`
const escaped = (text: string) => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
