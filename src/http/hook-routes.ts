import type { FastifyInstance, FastifyRequest } from 'fastify'
import { endpoints } from '../contract/endpoints.ts'
import type { Services } from '../service/context.ts'
import { receiveGitHub } from '../service/receive-github.ts'
import { parseInput } from './parse-input.ts'

/** What forges tell us (decisions §9): signed over the bytes as they came, so these are kept beside what they say. */
export function addHookRoutes(app: FastifyInstance, services: Services) {
  const bytes = new WeakMap<FastifyRequest, Buffer>()
  const endpoint = endpoints.receiveGitHub
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
      return receiveGitHub(services, {
        ...{ connection_id, payload: body, bytes: bytes.get(request) ?? Buffer.alloc(0), signature: header('x-hub-signature-256') },
        ...{ event: header('x-github-event'), delivery: header('x-github-delivery') },
      })
    },
  })
}
