import { z } from 'zod'

const Integration = z
  .object({
    integration_type: z.string().describe('The service, for example `github`'),
    active: z.boolean().describe('Whether it works at this moment'),
    token_id: z.int().nullable().describe('The token it uses, if any'),
    installation_id: z.int().nullable().describe('The installation of an app, if any'),
    metadata: z.record(z.string(), z.unknown()).nullable().describe('Further details; secrets are masked'),
  })
  .meta({ id: 'IntegrationStatus' })

export const Integrations = z
  .object({
    organization_id: z.int().describe('The organization'),
    organization_name: z.string().describe('Its name'),
    integrations: z.array(Integration).describe('Outside services that it is connected to'),
    total_active_integrations: z.int().describe('Number of active ones'),
  })
  .meta({
    id: 'OrganizationIntegrationsResponse',
    examples: [
      {
        organization_id: 1,
        organization_name: 'My organization',
        integrations: [],
        total_active_integrations: 0,
      },
    ],
  })

const OAuthProvider = z
  .object({
    id: z.int().describe('The provider'),
    name: z.string().describe('Display name'),
    issuer: z.string().describe('Issuer URL'),
    authorization_endpoint: z.string().describe('Address at which a person authorizes the service'),
    token_endpoint: z.string().describe('Address at which tokens are issued'),
    default_scopes: z.array(z.string()).nullable().describe('Default scopes'),
    is_mcp: z.boolean().describe('Whether it serves tools by MCP'),
    meta: z.record(z.string(), z.unknown()).nullable().describe('Further details'),
  })
  .meta({ id: 'OAuthProviderResponse' })

export const OAuthProviders = z.array(OAuthProvider).meta({ id: 'OAuthProviders', examples: [[]] })

/** Names alone, as clients of the public API read them. */
export const ConnectedProviders = z.array(z.string()).meta({ id: 'ConnectedProviders', examples: [[]] })

export const Connections = z
  .object({
    organization_id: z.int().describe('The organization'),
    connections: z
      .array(z.object({ provider: z.string().describe('Name of the provider') }))
      .describe('Providers that are connected'),
  })
  .meta({ id: 'OAuthConnections', examples: [{ organization_id: 1, connections: [] }] })

export const SlackTokenInput = z
  .object({ org_id: z.int().min(0).describe('The organization to connect') })
  .meta({ id: 'GenerateTokenRequest', examples: [{ org_id: 1 }] })
export const SlackToken = z
  .object({
    token: z.string().describe('To be sent to the app'),
    message: z.string().describe('Instructions for its use'),
    expires_in_minutes: z.int().describe('Its lifetime'),
  })
  .meta({
    id: 'GenerateTokenResponse',
    examples: [{ token: '…', message: 'Send it to the app.', expires_in_minutes: 10 }],
  })
