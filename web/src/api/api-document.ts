import { queryOptions } from '@tanstack/react-query'
import { call } from './client.ts'

/** As much of the OpenAPI document as the reference shows. */
export type Schema = {
  $ref?: string
  type?: string | string[]
  description?: string
  deprecated?: boolean
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  additionalProperties?: Schema | boolean
  enum?: unknown[]
  const?: unknown
  [keyword: string]: unknown
}
type Example = { $ref?: string; value?: unknown }
export type Media = { schema?: Schema; examples?: Record<string, Example> }
export type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema }
export type ResponseObject = {
  $ref?: string
  description?: string
  headers?: Record<string, { $ref?: string }>
  content?: Record<string, Media>
}
export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  deprecated?: boolean
  'x-stability': string
  'x-alias-of'?: string
  security: Record<string, unknown>[]
  parameters: Parameter[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, ResponseObject>
}
export type ApiDocument = {
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> } & Record<string, Record<string, unknown>>
}

/** The document of this service. It is public, so no token is sent. */
export const apiDocumentQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: ({ signal }) => call('getOpenApi', { signal }) as Promise<ApiDocument>,
  staleTime: Number.POSITIVE_INFINITY,
})
