import { expect } from 'vitest'
import { AddedMember } from '../../src/contract/members.ts'
import type { Answer, App } from '../start-app.ts'
import { contents } from './contents.ts'
import { addCaller, type Caller } from './people.ts'
import { addOrganization, type Organization } from './second-organization.ts'
import { startOrganizations } from './start-organizations.ts'

/** The service with a second organization, for all tests of a file, and what they do with members. */
export async function startMembers() {
  const { app, other, admin } = await startOrganizations()
  let count = 0
  const add = (body: Record<string, unknown>, caller = admin) => caller.ask('POST', '/members', { role: 'MEMBER', ...body })
  return {
    ...{ app, other, admin, add },
    newEmail: () => `person-${++count}@example.org`,
    async added(body: Record<string, unknown>, caller = admin) {
      const answer = await add(body, caller)
      expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 })
      return AddedMember.strict().parse(answer.body)
    },
    /** An organization of its own, with the caller as its first ADMIN: for what changes who administers it. */
    async newOrganization(): Promise<Organization & { caller: Caller }> {
      const organization = await addOrganization(app, `org-${++count}`)
      return { ...organization, caller: await addCaller(app, organization.user_id, {}, organization.org_id) }
    },
    async unchanged(work: () => Promise<unknown>): Promise<void> {
      const before = await contents(app)
      await work()
      expect(await contents(app)).toEqual(before)
    },
  }
}

/** The cookie of who follows a sign-in link; null when it opens nothing. */
export async function follow(app: App, link: string | null): Promise<string | null> {
  const answer = await fetch(`${app.base_url}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: new URL(link ?? 'http://x').hash.slice('#code='.length) || 'none' }),
  })
  await answer.body?.cancel()
  return answer.status === 200 ? (answer.headers.getSetCookie()[0]?.split(';')[0] ?? null) : null
}

export async function sessionToken(app: App, cookie: string | null): Promise<Pick<Answer, 'status' | 'body'>> {
  const answer = await fetch(`${app.base_url}/session/token`, { method: 'POST', headers: { cookie: cookie ?? '' } })
  return { status: answer.status, body: await answer.json() }
}
