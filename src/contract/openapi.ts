import { problemStatuses } from './documented-statuses.ts'
import { type Endpoint, pathsOf } from './endpoint.ts'
import { endpoints } from './endpoints.ts'
import { Problem } from './error-codes.ts'
import { type Components, operation } from './openapi/operation.ts'
import { headerComponents, problemComponents } from './openapi/responses.ts'
import { hoist, type Json, jsonSchema } from './openapi/schemas.ts'
import { sentWebhooks } from './openapi/webhooks.ts'
import { type ToolName, toolInputs, toolSchema } from './runs/tools.ts'
import { tags } from './tags.ts'

const about = `Runs AI coding agents on git repositories, each in its own sandbox, and keeps a complete trace of their work.

**Requests.** A bearer token in \`Authorization\`; JSON bodies. Unknown keys are ignored, so check the spelling of optional ones. No text may contain NUL (U+0000) or half a surrogate pair.

**Responses.** A success is always 200 with a body. Every response has the header \`X-Request-Id\`. Responses may gain keys and enum values: ignore unknown ones.

**Errors** are \`application/problem+json\` with a \`code\` (plain \`application/json\` for tokens of profile \`codegen\`, and for unknown tokens below \`/v1/alpha\` and \`/v1/beta\`). \`type\` is the address of its cause and fix in the error reference, \`/docs/errors\`. 400 names every invalid field. Requests to an organization respond with 403 unless the user is a member, whether it exists or not. A resource of another organization is 404.

**Limits.** \`RateLimit\` headers are on every response to a token; 429 states in \`Retry-After\` how long to wait. Do not poll runs: follow their events.

**Lists** take \`skip\` and \`limit\` (at most 100) and return \`items\`, \`total\`, \`page\`, \`size\`, \`pages\`. To read a whole list, follow the header \`Link\` (RFC 8288): its \`next\` and \`prev\` have a \`cursor\`, which returns each item once even if items are added. A filter that is an array takes up to 20 values, of which any may match: repeat the parameter, or separate the values by commas (except in \`tag\`).

**Wire profiles.** This document describes the responses to a token of profile \`standard\`. For a token of profile \`codegen\`, which serves clients of the public Codegen API, the status of a run is \`ACTIVE\`, \`PAUSED\`, \`COMPLETE\`, \`CANCELLED\`, \`TIMEOUT\`, \`MAX_ITERATIONS_REACHED\`, \`OUT_OF_TOKENS\` or \`ERROR\`, its \`source_type\` one of the public API's values, its \`result\` null until there is one, and an invalid request is 422 with the list of \`errors\` in \`detail\`. Everything else is the same.

**Stability.** \`/v1\` changes by addition only. A breaking change is announced at least 90 days ahead, or 14 days for an operation marked alpha, by the headers \`Deprecation\` and \`Sunset\` and the changelog.

Schemas named \`Tool_…\` are the inputs of the agent's tools, as in \`tool_input\` of log entries.`

/**
 * Returns the OpenAPI 3.1 document of the contract table, as the service at `base_url` and of this version
 * serves it.
 */
export function openApiDocument({ base_url, version }: { base_url: string; version: string }): Json {
  const components: Components = { schemas: {}, examples: {} }
  hoist(jsonSchema(Problem, 'output'), components.schemas)
  for (const name of Object.keys(toolInputs) as ToolName[]) {
    const { description, input_schema } = toolSchema(name)
    components.schemas[`Tool_${name}`] = { description, ...input_schema }
  }
  const rows = Object.entries(endpoints) as [string, Endpoint][]
  const paths: Record<string, Json> = {}
  for (const [name, endpoint] of rows) {
    for (const path of pathsOf(endpoint))
      paths[path] = {
        ...paths[path],
        [endpoint.method.toLowerCase()]: operation(name, endpoint, path, components),
      }
  }
  const webhooks = sentWebhooks(components.schemas)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Run Service',
      version,
      summary: 'AI coding agents on your repositories, over REST',
      description: about,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: base_url }],
    tags: [...new Set(rows.map(([, endpoint]) => endpoint.tag))].map(name => ({
      name,
      description: tags[name],
    })),
    paths,
    webhooks,
    components: {
      schemas: components.schemas,
      responses: problemComponents(new Set(rows.flatMap(([, endpoint]) => problemStatuses(endpoint)))),
      headers: headerComponents,
      examples: components.examples,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A token of the service, `arun_…`' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'agentrun_session',
          description: 'Set by sign-in; valid for /session only',
        },
      },
    },
  }
}
