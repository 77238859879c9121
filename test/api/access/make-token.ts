import { expect } from 'vitest'
import { CreatedToken } from '../../../src/contract/organizations/tokens.ts'
import { insertMembership } from '../../../src/store/access/accounts.ts'
import { insertServiceUser } from '../../../src/store/access/members.ts'
import type { App } from '../../start-app.ts'
import type { Caller } from '../members/people.ts'

/** Creates a token; `body` has its properties other than the name. */
export const create = (caller: Caller, body: Record<string, unknown>) =>
  caller.request('POST', '/tokens', { name: 't', ...body })

/** The created token. */
export async function made(caller: Caller, body: Record<string, unknown> = {}) {
  const { status, body: token } = await create(caller, body)
  expect({ status, token }).toMatchObject({ status: 200 })
  return CreatedToken.strict().parse(token)
}

/** A service user of the organization, by id. */
export async function addService(app: App, role: 'ADMIN' | 'MEMBER' | 'READER' = 'MEMBER'): Promise<number> {
  const { id } = await insertServiceUser(app.db, app.org_id, 'bot')
  await insertMembership(app.db, app.org_id, id, role)
  return id
}
