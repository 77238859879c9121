import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { runCli } from '../../client/run-cli.ts'
import { callsInTurn, startMcpApp } from '../../mcp-servers/mcp-app.ts'
import { serveSignIn } from '../../mcp-servers/sign-in/authorization-server.ts'
import { type Remote, sign_in, signed_in, signInCalls } from '../../mcp-servers/sign-in/sign-in-calls.ts'
import { rows } from '../../start-app.ts'
import { addOrganization } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { addCaller, addOldMembership, addPerson } from '../members/people.ts'
import { putRepository } from './put-repository.ts'

/**
 * Who may complete a sign-in: otherwise a person who opens the authorization page gives their access to the
 * organization that began.
 */
let app: Awaited<ReturnType<typeof startMcpApp>>
let calls: ReturnType<typeof signInCalls>
beforeAll(async () => {
  app = await startMcpApp(callsInTurn(), {
    AGENTRUN_ALLOW_PRIVATE_EGRESS: '1',
    AGENTRUN_WORKER_CONCURRENCY: '0',
  })
  calls = signInCalls(app)
})
afterAll(() => app[Symbol.asyncDispose]())
afterEach(() => app.servers.remove('tickets'))

/** Nothing was exchanged or stored, and the person who began can still complete it. */
async function expectOpen(remote: Remote, back: URL, before: unknown) {
  expect(remote.state.forms).toEqual([])
  expect(await calls.stored()).toEqual(before)
  expect((await calls.finish(back)).body).toMatchObject({ server: 'tickets', problem: null })
}

test('401 and 403: not without a token, by another organization or by a member who may not set it; it remains open', async () => {
  await using remote = await serveSignIn()
  const back = await calls.begin(remote)
  const before = await calls.stored()
  const stranger = await addOrganization(app, 'Strangers')
  const member = await addPerson(app, 'MEMBER')
  // May set servers of repositories, but this one belongs to the organization.
  const manager = await addPerson(app, 'MANAGER')
  const reading = await addPerson(app, 'ADMIN', { scopes: ['org:read', 'repos:admin'] })
  expectProblem(await calls.finish(back, ''), 401)
  expectProblem(await calls.finish(back, stranger.token), 403)
  for (const { token } of [member, manager, reading]) {
    expectProblem(await calls.view(back, token), 403)
    expect(expectProblem(await calls.finish(back, token), 403).detail).toContain('org:admin')
  }
  await expectOpen(remote, back, before)
})

test('403 and 404: not through another organization of the same person, nor with a token that is bound to it', async () => {
  await using remote = await serveSignIn()
  const back = await calls.begin(remote)
  const before = await calls.stored()
  const { org_id } = await addOrganization(app, 'Second')
  await addOldMembership(app, org_id, app.user_id, 'ADMIN')
  expectProblem(await calls.finish(back, app.token, org_id), 404)
  const renamed = new URL(back)
  renamed.searchParams.set('state', back.searchParams.get('state')?.replace(/^\d+/, `${org_id}`) ?? '')
  expectProblem(await calls.finish(renamed, app.token, org_id), 404)
  const bound = await addCaller(app, app.user_id, { organization_id: org_id })
  expectProblem(await calls.finish(back, bound.token), 403)
  await expectOpen(remote, back, before)
})

test('403 and 404: not with a token that is bound to another repository', async () => {
  await using remote = await serveSignIn()
  const back = await calls.begin(remote, { repo_id: app.repo_id })
  const before = await calls.stored()
  const elsewhere = await putRepository(app, 'elsewhere')
  expectProblem(
    await calls.finish(
      back,
      (await addPerson(app, 'MANAGER', { organization_id: app.org_id, repository_ids: [elsewhere] })).token,
    ),
    404,
  )
  await expectOpen(remote, back, before)
  const own = await addPerson(app, 'MANAGER', { organization_id: app.org_id, repository_ids: [app.repo_id] })
  expectProblem(await calls.finish(await calls.begin(remote), own.token), 403)
  const again = await calls.begin(remote, { repo_id: app.repo_id })
  expect(await calls.finish(again, own.token)).toMatchObject({
    status: 200,
    body: { ...signed_in, repo_id: app.repo_id },
  })
  await app.servers.remove('tickets', app.repo_id)
})

test('200: begun on the command line, it is completed in the browser of the same person', async () => {
  await using remote = await serveSignIn()
  await app.servers.set('tickets', { url: remote.url, sign_in })
  const begun = await runCli(['mcp-servers', 'sign-in', 'tickets'], {
    env: { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token, AGENTRUN_ORG: `${app.org_id}` },
  })
  expect(begun).toMatchObject({
    code: 0,
    err: expect.stringContaining('signed in to the service as you, or as another person'),
  })
  const browser = await addCaller(app, app.user_id, { kind: 'browser' })
  expect(await calls.finish(remote.allow(begun.out.trim()), browser.token)).toMatchObject({
    status: 200,
    body: signed_in,
  })
})

test('200: another administrator may complete it, sees who began, and is named in the audit log', async () => {
  await using remote = await serveSignIn()
  const back = await calls.begin(remote)
  const other = await addPerson(app, 'ADMIN')
  expect((await calls.view(back, other.token)).body).toMatchObject({
    issuer: remote.issuer,
    started_by: app.user_id,
  })
  expect(await calls.finish(back, other.token)).toMatchObject({ status: 200, body: signed_in })
  const [entry] = await rows(
    app,
    `select user_id, detail
      from audit_entries
      where action = 'mcp_server.signed_in'
      order by id desc`,
  )
  expect(entry).toMatchObject({ user_id: other.user_id })
  expect(JSON.parse(entry?.detail)).toMatchObject({ started_by: app.user_id, issuer: remote.issuer })
  expectProblem(await calls.finish(back), 404)
})

test('403: a person who lost the permission after the beginning', async () => {
  await using remote = await serveSignIn()
  const person = await addPerson(app, 'ADMIN')
  const back = await calls.begin(remote, { token: person.token })
  await app.call('PATCH', `/v1/organizations/${app.org_id}/members/${person.user_id}`, { role: 'MEMBER' })
  expectProblem(await calls.finish(back, person.token), 403)
  expect(remote.state.forms).toEqual([])
})
