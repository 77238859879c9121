import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { saveInvitation } from '../../../src/store/access/invitations.ts'
import { createRun } from '../../runs/await-run.ts'
import { type ApiResponse, type App, startApp } from '../../start-app.ts'
import { contents } from '../contents.ts'
import { type Call, type Ids, tokenCalls, unknown, with_client } from '../contract/every-endpoint.ts'
import { type IdField, idFields, withValueAt } from '../contract/id-fields.ts'
import { sendCall } from '../contract/send-call.ts'
import { expectProblem } from '../expect-problem.ts'
import {
  addArtifact,
  addComment,
  addDelivery,
  addEnvironment,
  addMcpServers,
  addOrganization,
  addPullRequest,
  addSandbox,
  addSkill,
  addTenant,
  type Tenant,
} from './second-organization.ts'

let app: App
let other: Tenant
let ours: Ids
beforeAll(async () => {
  app = await startApp({ ...with_client, AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  const { id: run_id } = await createRun(app, { prompt: 'our secret' })
  const pr_id = await addPullRequest(
    app.db,
    { organization_id: app.org_id, repository_id: app.repo_id, run_id },
    'our secret',
  )
  const artifact_id = await addArtifact(app.db, { organization_id: app.org_id, run_id }, 'our secret')
  const environment_id = await addEnvironment(
    app.db,
    { organization_id: app.org_id, repository_id: app.repo_id, run_id },
    'ours',
  )
  const delivery_id = await addDelivery(app.db, { organization_id: app.org_id, run_id }, 'our secret')
  const comment_id = await addComment(
    app.db,
    { organization_id: app.org_id, pr_id, user_id: app.user_id },
    'our secret',
  )
  const sandbox_id = await addSandbox(app.db, { organization_id: app.org_id, run_id })
  const invited = {
    email: 'x@example.org',
    full_name: null,
    role: 'READER',
    created_by: app.user_id,
    days: 1,
  } as const
  const { id: invitation_id } = await saveInvitation(app.db, app.org_id, {
    ...invited,
    digest: Buffer.from('x'),
  })
  await addSkill(app.db, app, 'our secret')
  await addMcpServers(app.db, app, 'our secret')
  const made = {
    run_id,
    pr_id,
    artifact_id,
    delivery_id,
    comment_id,
    environment_id,
    sandbox_id,
    invitation_id,
  }
  ours = { org_id: app.org_id, repo_id: app.repo_id, user_id: app.user_id, ...made }
})
afterAll(() => app[Symbol.asyncDispose]())

const send = ({ method, path, body }: Call, token = app.token) =>
  app.call(method, path, body, { authorization: `Bearer ${token}` })
const inOrganization = (call: Call) => call.path.includes('/organizations/')

test('F96 every endpoint closes the path of an organization to everyone else, with the message for a nonexistent one, and writes nothing', async () => {
  const words = new Set<string>()
  const strangers = [other.token, (await addOrganization(app, 'Third')).token]
  const before = await contents(app)
  for (const ids of [ours, { ...ours, org_id: unknown.org_id }, { ...unknown, org_id: ours.org_id }])
    for (const call of tokenCalls(ids).filter(inOrganization))
      for (const token of strangers) {
        const problem = expectProblem(await send(call, token), 403)
        words.add(JSON.stringify({ ...problem, request_id: '', instance: '' }))
      }
  expect(words.size).toBe(1)
  expect([...words][0]).toContain('You do not have access to this organization.')
  expect(await contents(app)).toEqual(before)
})

/** The valid request of the field's operation, with this value instead of its own. */
function callWith({ operation, location, keys, names }: IdField, id: number): Call {
  const call = tokenCalls(ours).find(({ name }) => name === operation) as Call
  if (location === 'body')
    return { ...call, body: withValueAt(call.body, keys, id) as Record<string, unknown> }
  if (location === 'path')
    return tokenCalls({ ...ours, [names]: id }).find(({ name }) => name === operation) as Call
  const [path, query] = call.path.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set(keys[0] ?? '', `${id}`)
  return { ...call, path: `${path}?${parameters}` }
}

test('F96 F97 F98 an id of another organization, in any field of ours, is like a nonexistent one, and nothing is written', async () => {
  const before = await contents(app)
  for (const field of idFields()) {
    // The environment of a dry run has the time of the request.
    const theirs = await sendCall(app, callWith(field, other[field.names]), app.token)
    const never = await sendCall(app, callWith(field, unknown[field.names]), app.token)
    const comparable = ({ status, body }: ApiResponse) => ({
      field,
      status,
      body: { ...body, ...(body.dry_run && { environment: null }), request_id: '', instance: '' },
    })
    expect(comparable(theirs)).toEqual(comparable(never))
    expect({ field, ...theirs }).toSatisfy(({ status, body }: ApiResponse) => isRefusal(field, status, body))
  }
  expect(await contents(app)).toEqual(before)
})

/** A list is empty, or the object is not found; of a batch, 400 names the object. */
function isRefusal(
  { location, keys, names }: IdField,
  status: number,
  body: {
    total?: unknown
    items?: unknown[]
    success?: boolean
    dry_run?: boolean
    blocking_problems?: { code: string }[]
  },
): boolean {
  // The edit of a pull request reports it in its response, as existing clients expect.
  if (status === 200 && body.success === false) return true
  // A dry run reports what a create would be refused for.
  if (body.dry_run) return body.blocking_problems?.some(({ code }) => code === 'not_found') ?? false
  if (location === 'query' && status === 200)
    return body.items?.length === 0 && (typeof body.total !== 'number' || body.total === 0)
  if (keys.at(-1) === '[]') return status === 400
  return names === 'org_id' ? status === 403 : status === 404
}

test('no response to one organization contains text of the other', async () => {
  for (const call of tokenCalls(ours).filter(
    call => call.method === 'GET' && !call.name.startsWith('stream'),
  )) {
    expect(JSON.stringify((await send(call)).body)).not.toContain('secret of Other')
    const theirs = tokenCalls(other).find(item => item.name === call.name) as Call
    const { status, body } = await send(theirs, other.token)
    // The files of a repository; those of the other organization no longer exist, and its run has none.
    const in_git = [
      'listPullRequestCommits',
      'getPullRequestDiff',
      'getAgentRunFile',
      'downloadAgentRunFile',
    ].includes(call.name)
    // No sign-in was begun, and no app.
    const expected = ['getMcpSignIn', 'getGitHubApp'].includes(call.name)
      ? [404]
      : in_git
        ? [409]
        : [200, 501]
    expect(expected).toContain(status)
    expect(JSON.stringify(body)).not.toContain('our secret')
  }
})

describe('someone without any organization', () => {
  test('sees none, and has access to none', async () => {
    const nobody = await addOrganization(app, 'Left')
    await app.db.query({ text: 'delete from memberships where user_id = $1', values: [nobody.user_id] })
    const headers = { authorization: `Bearer ${nobody.token}` }
    expect((await app.call('GET', '/v1/organizations', undefined, headers)).body).toMatchObject({
      items: [],
      total: 0,
      pages: 0,
    })
    expect((await app.call('GET', '/v1/users/me', undefined, headers)).body).toMatchObject({
      id: nobody.user_id,
      role: null,
      is_admin: false,
    })
    expectProblem(await app.call('GET', `/v1/organizations/${nobody.org_id}/repos`, undefined, headers), 403)
  })
})
