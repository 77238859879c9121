import type { z } from 'zod'
import type { Endpoint } from './endpoint.ts'
import { auditEndpoints } from './endpoints/audit-log.ts'
import { checkSuiteEndpoints } from './endpoints/check-suites.ts'
import { checkEndpoints } from './endpoints/checks.ts'
import { egressEndpoints } from './endpoints/egress.ts'
import { forgeEndpoints } from './endpoints/forges.ts'
import { integrationEndpoints } from './endpoints/integrations.ts'
import { logAnalysisEndpoints } from './endpoints/log-analysis.ts'
import { mcpServerEndpoints } from './endpoints/mcp-servers.ts'
import { memberEndpoints } from './endpoints/members.ts'
import { modelEndpoints } from './endpoints/models.ts'
import { organizationEndpoints } from './endpoints/organizations.ts'
import { pullRequestContentEndpoints } from './endpoints/pull-request-contents.ts'
import { pullRequestEndpoints } from './endpoints/pull-requests.ts'
import { recordedSessionEndpoints } from './endpoints/recorded-sessions.ts'
import { relatedRunEndpoints } from './endpoints/related-runs.ts'
import { repositoryEndpoints } from './endpoints/repositories.ts'
import { runFileEndpoints } from './endpoints/run-files.ts'
import { runEndpoints } from './endpoints/runs.ts'
import { sandboxEndpoints } from './endpoints/sandboxes.ts'
import { secretEndpoints } from './endpoints/secrets.ts'
import { serviceEndpoints } from './endpoints/service.ts'
import { setupCommandEndpoints } from './endpoints/setup-commands.ts'
import { setupDetectionEndpoints } from './endpoints/setup-detection.ts'
import { skillEndpoints } from './endpoints/skills.ts'
import { tokenEndpoints } from './endpoints/tokens.ts'
import { traceEndpoints } from './endpoints/traces.ts'
import { usageEndpoints } from './endpoints/usage.ts'
import { userEndpoints } from './endpoints/users.ts'
import { webhookEndpoints } from './endpoints/webhooks.ts'
import { oauthEndpoints } from './oauth/oauth-endpoints.ts'

/**
 * THE table. Validation, handler types, routing, the OpenAPI document and clients are derived from it; a
 * missing handler does not compile. To add an endpoint: a row in endpoints/, a verb in service/, a line in
 * http/handlers.ts.
 */
export const endpoints = {
  ...runEndpoints,
  ...relatedRunEndpoints,
  ...recordedSessionEndpoints,
  ...traceEndpoints,
  ...runFileEndpoints,
  ...repositoryEndpoints,
  ...checkSuiteEndpoints,
  ...checkEndpoints,
  ...secretEndpoints,
  ...egressEndpoints,
  ...setupCommandEndpoints,
  ...webhookEndpoints,
  ...pullRequestEndpoints,
  ...pullRequestContentEndpoints,
  ...organizationEndpoints,
  ...modelEndpoints,
  ...skillEndpoints,
  ...mcpServerEndpoints,
  ...usageEndpoints,
  ...setupDetectionEndpoints,
  ...sandboxEndpoints,
  ...logAnalysisEndpoints,
  ...integrationEndpoints,
  ...forgeEndpoints,
  ...userEndpoints,
  ...memberEndpoints,
  ...tokenEndpoints,
  ...oauthEndpoints,
  ...auditEndpoints,
  ...serviceEndpoints,
} as const satisfies Record<string, Endpoint>

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints
/** The input of a handler: everything parsed, defaults filled in. */
export type HandlerInput<E extends Endpoint> = {
  params: z.output<E['params']>
  query: z.output<E['query']>
  body: E['body'] extends z.ZodType ? z.output<E['body']> : undefined
}
export type HandlerResult<E extends Endpoint> = E['response'] extends z.ZodType
  ? z.output<E['response']>
  : never
