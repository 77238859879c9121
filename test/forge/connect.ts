import type { App } from '../start-app.ts'
import type { FakeGitHub } from './fake-github.ts'

type Calls = Pick<App, 'call' | 'org_id'>

/**
 * Connects the organization to the fake by its token, or as its app, and registers acme/app; returns the
 * repository's id.
 */
export async function connectFake(
  { call, org_id }: Calls,
  github: FakeGitHub,
  as: 'token' | 'app' = 'token',
): Promise<number> {
  const { token, app } = github
  const credentials = as === 'token' ? { token } : { app: { app_id: app.id, private_key: app.private_key } }
  const at = `/v1/organizations/${org_id}`
  const connected = await call('PUT', `${at}/integrations/github`, { url: github.url, ...credentials })
  if (connected.body.active !== true) throw new Error(JSON.stringify(connected.body))
  const added = await call('POST', `${at}/repos`, { url: `${github.url}/acme/app.git` })
  if (added.status === 200) return added.body.id
  const listed = await call('GET', `${at}/repos`)
  return listed.body.items.find((repo: { url: string }) => repo.url === `${github.url}/acme/app.git`).id
}
