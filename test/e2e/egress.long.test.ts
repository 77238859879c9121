import { afterAll, expect, test } from 'vitest'
import { addPerson } from '../api/members/people.ts'
import { servePlain } from '../egress/servers.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { startApp } from '../start-app.ts'
import { inBrowser } from './visit.ts'

const server = await servePlain((_, response) => response.end('let out'))
afterAll(() => server[Symbol.asyncDispose]())
const { app, visit } = await inBrowser(startApp({ AGENTRUN_SAMPLE: '1', AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' }))

const playbook = (run: string) =>
  `Play this.\n\n\`\`\`playbook\n- run: ${JSON.stringify(run)}\n- answer: Done.\n\`\`\`\n`
const fetching = `until curl --noproxy '' -sS http://localhost:${server.port}/ | grep 'let out'; do sleep 0.2; done`

const setOrganization = (agent: object) =>
  app.call('PUT', `/v1/organizations/${app.org_id}/egress`, { agent })

test('where egress is off the entry explains what allowing does, and one click turns it on for that host only', async () => {
  const { id } = await createRun(app, { prompt: playbook(fetching), model: 'scripted/playbook' })
  await using visitor = await visit({ path: `/agent/trace/${id}` })
  const { page } = visitor
  const entry = page.getByRole('article').filter({ hasText: 'Blocked request' }).first()
  await entry.getByText(`egress is off, so no rule allows localhost:${server.port}`).waitFor()
  await entry.getByText('this turns it on for this host').waitFor()
  await entry.getByRole('button', { name: 'Allow this host' }).click()
  await entry.getByText(`localhost:${server.port} is now allowed for this repository.`).waitFor()
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  const path = `/v1/organizations/${app.org_id}/repos/${app.repo_id}/egress`
  const allow = [{ host: 'localhost', port: server.port, methods: null }]
  expect((await app.call('GET', path)).body.agent).toEqual({ mode: 'allowlist', allow, presets: [] })
  expect(visitor.problems).toEqual([])
  await app.call('PUT', path, { agent: {} })
})

test('a host that was refused is allowed from its entry, and the running run can reach it', async () => {
  await setOrganization({ mode: 'allowlist' })
  const { id } = await createRun(app, { prompt: playbook(fetching), model: 'scripted/playbook' })
  await using visitor = await visit({ path: `/agent/trace/${id}` })
  const { page } = visitor
  const entry = page.getByRole('article').filter({ hasText: 'Blocked request' }).first()
  await entry.getByText(`no rule allows localhost:${server.port}`).waitFor()
  await entry.getByText('let out').waitFor()
  await entry.getByRole('button', { name: 'Allow this host' }).click()
  await entry.getByText(`localhost:${server.port} is now allowed for this repository.`).waitFor()
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/repos/${app.repo_id}/egress`)
  expect(body.agent.allow).toEqual([{ host: 'localhost', port: server.port, methods: null }])
  expect(visitor.problems).toEqual([])
})

test('a member without permission sees the reason, and hosts that no rule can allow are not offered', async () => {
  const command =
    'curl -s http://a.example/; curl -s http://169.254.169.254/; curl -s http://a.example/; true'
  const { id } = await createRun(app, { prompt: playbook(command), model: 'scripted/playbook' })
  await awaitEnd(app, id)
  const member = await addPerson(app, 'MEMBER')
  await using visitor = await visit({
    sign_in_link: await linkOf(member.user_id),
    path: `/agent/trace/${id}`,
  })
  const { page } = visitor
  const entries = page.getByRole('article').filter({ hasText: 'Blocked request' })
  await entries.filter({ hasText: 'a.example:80 ×2' }).waitFor()
  const button = entries
    .filter({ hasText: 'no rule allows' })
    .getByRole('button', { name: 'Allow this host' })
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  await button.hover()
  await page.getByText('Your role, MEMBER, may not change repositories').waitFor()
  await entries.filter({ hasText: 'is a private or reserved address' }).waitFor()
  expect(
    await entries
      .filter({ hasText: 'is a private or reserved address' })
      .getByRole('button', { name: 'Allow this host' })
      .count(),
  ).toBe(0)
  expect(visitor.problems).toEqual([])
})

async function linkOf(user_id: number): Promise<string> {
  const { status, body } = await app.call(
    'POST',
    `/v1/organizations/${app.org_id}/members/${user_id}/sign-in-link`,
  )
  expect(status).toBe(200)
  return body.sign_in_link
}
