import { expect } from 'vitest'
import { CreatedInvitation } from '../../../src/contract/organizations/members.ts'
import type { ApiResponse, App } from '../../start-app.ts'
import { addOrganization, type Organization } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { addCaller, type Caller } from './people.ts'
import { startOrganizations } from './start-organizations.ts'

/** The service with a second organization, for all tests of a file, and shared operations on members. */
export async function startMembers() {
  const { app, other, admin } = await startOrganizations()
  let count = 0
  const add = (body: Record<string, unknown>, caller = admin) =>
    caller.request('POST', '/members', { role: 'MEMBER', ...body })
  const invited = async (body: Record<string, unknown>, caller = admin) => {
    const response = await add(body, caller)
    expect({ status: response.status, body: response.body }).toMatchObject({ status: 200 })
    return CreatedInvitation.strict().parse(response.body)
  }
  return {
    app,
    other,
    admin,
    add,
    newEmail: () => `person-${++count}@example.org`,
    invited,
    /** A member with an account that accepting the invitation created, and the cookie of its session. */
    async added(body: Record<string, unknown>, caller = admin) {
      const { invitation_link } = await invited(body, caller)
      const { status, body: accepted, cookie } = await accept(app, invitation_link)
      expect({ status, accepted }).toMatchObject({ status: 200 })
      const { user_id } = (await sessionToken(app, cookie)).body
      return { user_id: user_id as number, cookie, invitation_link }
    },
    /**
     * A separate organization with the caller as its first ADMIN, for tests that change its administrators.
     */
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

export const codeOf = (link: string | null) =>
  new URL(link ?? 'http://x').hash.slice('#code='.length) || 'none'

async function post(
  app: App,
  path: string,
  body: unknown,
  cookie: string | null,
  headers: Record<string, string> = {},
) {
  const response = await fetch(app.base_url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(cookie !== null && { cookie }), ...headers },
    body: JSON.stringify(body),
  })
  const set = response.headers.getSetCookie()[0]?.split(';')[0] ?? null
  const read: ApiResponse = {
    status: response.status,
    headers: response.headers,
    body: await response.json(),
  }
  return { ...read, cookie: set }
}

/** The content of an invitation link in a browser. */
export const open = (
  app: App,
  link: string,
  cookie: string | null = null,
  headers: Record<string, string> = {},
) => post(app, '/session/invitation', { code: codeOf(link) }, cookie, headers)

/** Accepts in a browser: with a new account, or with the one of the cookie. */
export const accept = (
  app: App,
  link: string,
  cookie: string | null = null,
  headers: Record<string, string> = {},
) =>
  post(
    app,
    '/session/invitation/accept',
    { code: codeOf(link), account: cookie === null ? 'new' : 'signed_in' },
    cookie,
    headers,
  )

/** The cookie that a sign-in link sets; null when the link is void. */
export async function follow(app: App, link: string | null): Promise<string | null> {
  const { status, cookie } = await post(app, '/session', { code: codeOf(link) }, null)
  return status === 200 ? cookie : null
}

export async function sessionToken(
  app: App,
  cookie: string | null,
): Promise<Pick<ApiResponse, 'status' | 'body'>> {
  const response = await fetch(`${app.base_url}/session/token`, {
    method: 'POST',
    headers: { cookie: cookie ?? '' },
  })
  return { status: response.status, body: await response.json() }
}
