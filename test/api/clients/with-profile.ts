import type { WireProfile } from '../../../src/contract/organizations/tokens.ts'
import type { App } from '../../start-app.ts'

export type Caller = Pick<App, 'base_url' | 'token' | 'call'>

/** The admin of the app with another token, of this wire profile. */
export async function withProfile(app: App, wire_profile: WireProfile): Promise<Caller> {
  const created = await app.call('POST', `/v1/organizations/${app.org_id}/tokens`, {
    name: wire_profile,
    wire_profile,
  })
  if (created.status !== 200) throw new Error(`no token: ${JSON.stringify(created.body)}`)
  const { token } = created.body as { token: string }
  const call: App['call'] = (method, path, body, headers) =>
    app.call(method, path, body, { authorization: `Bearer ${token}`, ...headers })
  return { base_url: app.base_url, token, call }
}
