import { digest } from '../../src/core/token.ts'
import type { WireProfile } from '../../src/core/wire-profile.ts'
import { insertToken } from '../../src/store/accounts.ts'
import type { App } from '../start-app.ts'

export type Caller = Pick<App, 'base_url' | 'token' | 'call'>

/** The admin of the app with another token, of this wire profile. */
export async function withProfile(app: App, wire_profile: WireProfile): Promise<Caller> {
  const token = `a-token-of-profile-${wire_profile}-${crypto.randomUUID()}`
  await insertToken(app.db, {
    ...{ user_id: app.user_id, kind: 'personal', name: wire_profile, digest: digest(token), wire_profile, expires_in_seconds: null },
  })
  const call: App['call'] = (method, path, body, headers) => app.call(method, path, body, { authorization: `Bearer ${token}`, ...headers })
  return { base_url: app.base_url, token, call }
}
