import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Endpoint, type Scope, scopes } from '../../../src/contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../../src/contract/endpoints.ts'
import { type ProblemCode, problems } from '../../../src/contract/error-codes.ts'
import type { Role } from '../../../src/core/access/permissions.ts'
import { digest, newToken } from '../../../src/core/access/token.ts'
import { append } from '../../../src/store/runs/append.ts'
import { serviceAction } from '../../../src/trace/agent-entries.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { type Call, tokenCalls, with_client } from '../contract/every-endpoint.ts'
import { sendCall } from '../contract/send-call.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller } from './add-caller.ts'
import { addTenant, type Tenant } from './second-organization.ts'

/**
 * Every operation that requires a token × every kind of caller. The expectation follows from the row of the
 * contract table (access, scope, path), so that new operations are included.
 */

let app: App
beforeAll(async () => {
  app = await startApp({ ...with_client, AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
})
afterAll(() => app[Symbol.asyncDispose]())

const rowOf = ({ name }: Call): Endpoint => endpoints[name]
/** In path, query or body: only members may use it. */
const ofOrganization = ({ params, query, body }: Endpoint) =>
  [params, query, body].some(part => part !== null && 'shape' in part && 'org_id' in (part.shape as object))
let tenants = 0
/** Its run has entries that can be analyzed. */
async function newTenant(): Promise<Tenant> {
  const tenant = await addTenant(app, `tenant-${++tenants}`)
  const failed = serviceAction(
    'shell',
    { command: 'make' },
    { status: 'error', exit_code: 2, output: 'no' },
    1,
  )
  await append(app.db, tenant.org_id, tenant.run_id, null, { entries: [failed] })
  await rows(app, 'update sandboxes set last_seq = 2 where id = $1', [tenant.sandbox_id])
  return tenant
}

/** The permissions of the roles (specification.md#access), repeated independently of the code. */
const reading: Scope[] = ['runs:read', 'logs:read', 'repos:read', 'org:read']
const roles: Record<Role, readonly Scope[]> = {
  READER: reading,
  MEMBER: [...reading, 'runs:write'],
  MANAGER: [...reading, 'runs:write', 'repos:admin'],
  ADMIN: scopes,
}

type Holder = {
  token: string | null
  /** Whether the token is valid, and for the organization of the path. */
  known: boolean
  member: boolean
  may: readonly Scope[]
  /** The scopes of the token, if the role allows less. */
  granted?: readonly Scope[]
}

/** Information about the caller alone does not depend on a role in an organization. */
const ofCaller = (endpoint: Endpoint) => endpoint.tag === 'users' && !ofOrganization(endpoint)

/** The status that the row requires, and what its message must name; null: the request is permitted. */
function refusal(
  endpoint: Endpoint,
  { known, member, may, granted = may }: Holder,
): { status: 401 | 403; words: string } | null {
  if (!known) return { status: 401, words: 'bearer token' }
  if (ofOrganization(endpoint) && !member)
    return { status: 403, words: 'You do not have access to this organization.' }
  if (endpoint.scope === null || (ofCaller(endpoint) ? granted : may).includes(endpoint.scope)) return null
  return { status: 403, words: ofOrganization(endpoint) ? endpoint.scope : '' }
}

/** There is no connection to delete, no sign-in to complete, and no app to connect. */
const of_nothing: Endpoint[] = [
  ...[endpoints.revokeOAuthToken, endpoints.getMcpSignIn, endpoints.finishMcpSignIn],
  ...[endpoints.getGitHubApp, endpoints.finishGitHubApp],
]

/**
 * A permitted caller gets 200, or a refusal for another reason than the caller. The requested object exists,
 * until something has ended it: see tokenCalls and addTenant when a new operation responds with 404 here.
 */
function isLetIn(endpoint: Endpoint, status: number): boolean {
  const { method, problems: own = [] } = endpoint
  if (status === 200) return true
  if (of_nothing.includes(endpoint) && status === 404) return true
  const about_who: number[] = method === 'DELETE' ? [401, 403] : [401, 403, 404]
  return own.some((code: ProblemCode) => problems[code].status === status) && !about_who.includes(status)
}

/**
 * Sends every operation about the tenant's things, destructive ones last, and returns the results that differ
 * from the rows.
 */
async function mismatches(tenant: Tenant, holder: Holder): Promise<unknown[]> {
  const calls = tokenCalls(tenant)
  const refused = calls.filter(call => refusal(rowOf(call), holder) !== null)
  const let_in = calls.filter(call => !refused.includes(call))
  const reading = let_in.filter(call => call.method === 'GET')
  const writing = let_in.filter(call => call.method !== 'GET').sort((one, other) => last(one) - last(other))
  const wrong: unknown[] = []

  const before = await contents(app)
  for (const call of [...refused, ...reading]) {
    const wanted = refusal(rowOf(call), holder)
    const response = await sendCall(app, call, holder.token)
    if (wanted === null && !isLetIn(rowOf(call), response.status))
      wrong.push({ operation: call.name, got: response.status, body: response.body })
    if (wanted === null) continue
    if (response.status !== wanted.status)
      wrong.push({ operation: call.name, wanted, got: response.status, body: response.body })
    else if (!expectProblem(response, wanted.status).detail.includes(wanted.words))
      wrong.push({ operation: call.name, wanted, detail: response.body.detail })
  }
  expect(await contents(app)).toEqual(before)

  for (const call of writing) {
    const { status, body } = await sendCall(app, call, holder.token)
    const beyond = beyondTheRow[call.name]?.(holder.may) ?? null
    const right = beyond === null ? isLetIn(rowOf(call), status) : status === beyond
    if (!right) wrong.push({ operation: call.name, ...(beyond && { wanted: beyond }), got: status, body })
  }
  return wrong
}

const gives = (role: Role) => (may: readonly Scope[]) =>
  roles[role].every(scope => may.includes(scope)) ? null : 403
/**
 * Operations that require more than their row does, and the result for a caller with only that: no caller
 * grants more than it has.
 */
const beyondTheRow: Partial<Record<EndpointName, (may: readonly Scope[]) => 403 | 404 | null>> = {
  inviteMember: gives('READER'),
  // Nobody was invited with such a code.
  acceptInvitation: () => 404,
  createServiceUser: gives('READER'),
  createSignInLink: gives('ADMIN'),
  removeMember: may => (may.includes('org:admin') ? null : 403),
  // Written by another user.
  updatePullRequestComment: () => 403,
  deletePullRequestComment: () => 403,
  // It belongs to another user.
  revokeToken: may => (may.includes('org:admin') ? null : 404),
}
const last = (call: Call) => (call.method === 'DELETE' ? 1 : 0)

/** Refused, because it is about more than the one organization that a token is bound to. */
const beyond = { got: 403, body: expect.anything() }
const nobody = { known: false, member: false, may: [] }
const admin = { known: true, member: true, may: scopes }

describe('F99 401, with the same message, and nothing is written', () => {
  const forms: [string, (tenant: Tenant) => Promise<string | null>][] = [
    ['no token', async () => null],
    ['a malformed token', async () => 'arun_p_not-a-token'],
    ['a token that was never made', async () => newToken('p')],
    [
      'a revoked token',
      async ({ org_id }) => {
        const token = await addCaller(app, [org_id], 'ADMIN')
        await rows(app, 'update tokens set revoked_at = now() where digest = $1', [digest(token)])
        return token
      },
    ],
    ['an expired token', ({ org_id }) => addCaller(app, [org_id], 'ADMIN', { expires_in_seconds: -1 })],
  ]
  test.each(forms)('%s', async (_what, make) => {
    const tenant = await newTenant()
    expect(await mismatches(tenant, { ...nobody, token: await make(tenant) })).toEqual([])
  })
})

describe('F99 403 for an organization that is not one of the token', () => {
  test("another organization's token on our path", async () => {
    const [ours, other] = [await newTenant(), await newTenant()]
    expect(
      await mismatches(ours, {
        ...admin,
        member: false,
        token: await addCaller(app, [other.org_id], 'ADMIN'),
      }),
    ).toEqual([])
  })

  test("our token on another organization's path", async () => {
    const [ours, other] = [await newTenant(), await newTenant()]
    expect(await mismatches(other, { ...admin, member: false, token: ours.token })).toEqual([])
  })

  test('a token that is bound to another organization of its user', async () => {
    const [ours, other] = [await newTenant(), await newTenant()]
    const token = await addCaller(app, [ours.org_id, other.org_id], 'ADMIN', { bound_to: other.org_id })
    // It is valid for one organization only, so it creates none, and writes no instructions for agents in all
    // of its user's.
    const may = scopes.filter(scope => scope !== 'org:admin')
    expect(await mismatches(ours, { ...admin, member: false, may, token })).toEqual([
      { ...beyond, operation: 'updateMe' },
    ])
  })
})

describe('F99 F100 403 that names the scope, or in', () => {
  test.each(Object.entries(roles))('as %s', async (role, may) => {
    const tenant = await newTenant()
    const token = await addCaller(app, [tenant.org_id], role as Role)
    expect(await mismatches(tenant, { ...admin, may, granted: scopes, token })).toEqual([])
  })

  const granted: [string, Scope[]][] = [
    ['the reading scopes', reading],
    ['all scopes', [...scopes]],
    ['no scope', []],
    ...scopes.map((scope): [string, Scope[]] => [`the scope ${scope} alone`, [scope]]),
  ]
  test.each(granted)('with a token of an ADMIN that was given %s', async (_what, may) => {
    const tenant = await newTenant()
    const token = await addCaller(app, [tenant.org_id], 'ADMIN', { scopes: may })
    expect(await mismatches(tenant, { ...admin, may, token })).toEqual([])
  })

  test('with a token that is bound to this organization', async () => {
    const tenant = await newTenant()
    const token = await addCaller(app, [tenant.org_id], 'ADMIN', { bound_to: tenant.org_id })
    expect(await mismatches(tenant, { ...admin, may: scopes, token })).toEqual([
      { ...beyond, operation: 'createOrganization' },
      { ...beyond, operation: 'updateMe' },
    ])
  })
})
