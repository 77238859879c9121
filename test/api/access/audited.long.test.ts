import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../../src/contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../../src/contract/endpoints.ts'
import type { AuditRow } from '../../../src/store/access/audit.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { tokenCalls, with_client } from '../contract/every-endpoint.ts'
import { sendCall } from '../contract/send-call.ts'
import { addOldMembership } from '../members/people.ts'
import { putRun } from '../runs/put-run.ts'
import { addTenant } from './second-organization.ts'

/** Operations that another service has to take part in: their own tests read the audit log. */
const with_others: EndpointName[] = ['startMcpSignIn', 'startRepositoryMcpSignIn', 'finishGitHubApp']

/**
 * Administrative operations: by their scope, or because they concern tokens, members or the end of a trace.
 * New operations are included automatically.
 */
const acts = (Object.entries(endpoints) as [EndpointName, Endpoint][])
  .filter(([, { method, access }]) => method !== 'GET' && access === 'token')
  .filter(
    ([, { scope, tag }]) =>
      scope === 'org:admin' || scope === 'repos:admin' || tag === 'tokens' || tag === 'members',
  )
  .map(([name]) => name)
  .filter(name => !with_others.includes(name))
  .concat('deleteAgentRun')

/** Operations whose valid request in every-endpoint.ts would change nothing. */
const changing: Partial<Record<EndpointName, Record<string, unknown>>> = { updateMember: { role: 'READER' } }

/** The preceding operation that creates what the operation ends. */
const first: Partial<Record<EndpointName, EndpointName>> = {
  deleteSecret: 'setSecret',
  deleteRepositorySecret: 'setRepositorySecret',
  deleteWebhook: 'setWebhook',
  deleteModelProvider: 'setModelProvider',
  deleteModel: 'setModel',
  disconnectGitHub: 'connectGitHub',
  disconnectGitea: 'connectGitea',
}

let app: App
beforeAll(async () => {
  app = await startApp({ ...with_client, AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
})
afterAll(() => app[Symbol.asyncDispose]())

/**
 * The operation's request about objects of a new organization, by another ADMIN, so that its user can be
 * changed and removed.
 */
async function newRequest(name: EndpointName, round: string) {
  const tenant = await addTenant(app, `${name}-${round}`)
  const caller = await addTenant(app, `${name}-${round}-asking`)
  await addOldMembership(app, tenant.org_id, caller.user_id, 'ADMIN')
  await putRun(app, tenant.run_id, 'completed')
  const callOf = (wanted: EndpointName) => {
    const call = tokenCalls(tenant).find(item => item.name === wanted)
    if (!call) throw new Error(`${wanted} wants no token`)
    return call
  }
  const call = callOf(name)
  const before = first[name]
  if (before) expect(await sendCall(app, callOf(before), caller.token)).toMatchObject({ status: 200 })
  return {
    tenant,
    caller,
    send: () => sendCall(app, { ...call, body: changing[name] ?? call.body }, caller.token),
  }
}

describe('every administrative operation', () => {
  test.each(acts)('%s is in the audit log of its organization with user, token and target', async name => {
    const { tenant, caller, send } = await newRequest(name, 'done')
    const { status, body, headers } = await send()
    // Not supported yet.
    if (status === 501) return
    expect({ status, body }).toMatchObject({ status: 200 })
    const [token] = await rows<{ id: number }>(
      app,
      'select id from tokens where user_id = $1 and organization_id is null',
      [caller.user_id],
    )
    const written = await rows<Omit<AuditRow, 'detail'> & { detail: string }>(
      app,
      'select * from audit_entries where request_id = $1',
      [headers.get('x-request-id')],
    )
    expect({ name, acts: written.length > 0 }).toEqual({ name, acts: true })
    for (const row of written) {
      expect(row).toMatchObject({
        user_id: caller.user_id,
        token_id: token?.id,
        action: expect.stringMatching(/^[a-z_]+\.[a-z_]+$/),
      })
      expect(row.organization_id).toBe(name === 'createOrganization' ? body.id : tenant.org_id)
      expect(JSON.parse(row.detail)).toBeTypeOf('object')
    }
  })

  test.each(acts)('%s does not happen when it cannot be recorded', async name => {
    const { send } = await newRequest(name, 'refused')
    await rows(
      app,
      `create function refuse() returns trigger language plpgsql as 'begin raise exception $$no$$; end';
      create trigger refuse before insert on audit_entries execute function refuse()`,
    )
    try {
      const before = await contents(app)
      const { status } = await send()
      expect([500, 501]).toContain(status)
      expect(await contents(app)).toEqual(before)
    } finally {
      await rows(app, 'drop function refuse cascade')
    }
  })
})
