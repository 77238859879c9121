import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type App, startApp } from '../../start-app.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const CALLBACK = 'http://127.0.0.1:5000/callback'

test('the official client finds the sign-in by itself, registers, and works with the token that it is given', async () => {
  const saved = new Map<string, unknown>()
  const keep = (name: string) => (value: unknown) => void saved.set(name, value)
  const provider = {
    redirectUrl: CALLBACK,
    clientMetadata: {
      client_name: 'An editor',
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => saved.get('client'),
    saveClientInformation: keep('client'),
    tokens: () => saved.get('tokens'),
    saveTokens: keep('tokens'),
    redirectToAuthorization: keep('address'),
    saveCodeVerifier: keep('verifier'),
    codeVerifier: () => saved.get('verifier'),
    discoveryState: () => saved.get('discovery'),
    saveDiscoveryState: keep('discovery'),
  } as unknown as OAuthClientProvider
  const transport = () =>
    new StreamableHTTPClientTransport(new URL('/mcp', app.base_url), { authProvider: provider })
  const connect = () => new Client({ name: 'test', version: '1' }).connect(first)
  const first = transport()
  await expect(connect()).rejects.toThrow(UnauthorizedError)

  const address = new URL(String(saved.get('address')))
  const query = Object.fromEntries(address.searchParams)
  expect(address.origin + address.pathname).toBe(`${app.base_url}/oauth/authorize`)
  expect(query).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    resource: `${app.base_url}/mcp`,
  })
  const { client_id = '', redirect_uri = '', code_challenge = '', state, resource } = query
  const shown = await app.call('GET', `/v1/oauth/client?${new URLSearchParams({ client_id, redirect_uri })}`)
  expect(shown.body).toEqual({ name: 'An editor', redirect_uri: CALLBACK, host: null })
  const wanted = query.scope?.split(' ')
  expect(wanted).toEqual(['runs:read', 'runs:write', 'logs:read', 'repos:read', 'org:read'])
  const allowed = await app.call('POST', `/v1/organizations/${app.org_id}/oauth/authorizations`, {
    client_id,
    redirect_uri,
    code_challenge,
    code_challenge_method: 'S256',
    resource,
    scopes: wanted,
    ...(state && { state }),
  })
  await first.finishAuth(new URL(allowed.body.redirect_to).searchParams)

  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport())
  const { structuredContent } = await client.callTool({ name: 'list_agent_runs', arguments: {} })
  expect(structuredContent).toMatchObject({ total: 0 })
  await client.close()
  const { items } = (await app.call('GET', `/v1/organizations/${app.org_id}/tokens`)).body
  expect(items[0]).toMatchObject({
    name: 'An editor (OAuth)',
    kind: 'personal',
    organization_id: app.org_id,
    scopes: wanted,
    prefix: 'arun_p_',
  })
  await app.call('DELETE', `/v1/organizations/${app.org_id}/tokens/${items[0].id}`)
  await expect(new Client({ name: 'test', version: '1' }).connect(transport())).rejects.toThrow(
    UnauthorizedError,
  )
})

test('the metadata name what a client needs, and the protected resource leads to them', async () => {
  const at = async (path: string) => (await app.call('GET', path, undefined, { authorization: '' })).body
  const { authorization_servers } = await at('/.well-known/oauth-protected-resource/mcp')
  expect(authorization_servers).toEqual([app.base_url])
  expect(await at('/.well-known/oauth-authorization-server')).toMatchObject({
    issuer: app.base_url,
    authorization_endpoint: `${app.base_url}/oauth/authorize`,
    token_endpoint: `${app.base_url}/oauth/token`,
    registration_endpoint: `${app.base_url}/oauth/register`,
    code_challenge_methods_supported: ['S256'],
  })
})
