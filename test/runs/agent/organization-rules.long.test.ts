import { expect, test } from 'vitest'
import { digest } from '../../../src/core/access/token.ts'
import { insertMembership, insertUser } from '../../../src/store/access/accounts.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { finish, startCodingApp } from '../coding-app.ts'

const reported = (app: { model: { requests: { body: Record<string, unknown> }[] } }, n: number) =>
  JSON.stringify(app.model.requests[n]?.body)
const promptsOf = async (app: Parameters<typeof allLogs>[0], id: number, tool_name: string) =>
  (await allLogs(app, id))
    .filter(entry => entry.tool_name === tool_name)
    .map(entry => entry.tool_output.content)

test('the rules of the organization reach the agent and the trace, and are repeated only after a change', async () => {
  await using app = await startCodingApp(() => finish('done'))
  const set = (rules: string | null) => app.call('PATCH', `/v1/organizations/${app.org_id}`, { rules })
  const resume = async (id: number) => {
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
      agent_run_id: id,
      prompt: 'again',
    })
    await awaitEnd(app, id)
  }
  await set('Never use tabs.')
  const { id } = await createRun(app, { prompt: 'x' })
  await awaitEnd(app, id)
  expect(reported(app, 0)).toContain('Never use tabs.')
  expect(reported(app, 0)).toContain('Be brief.')
  expect(await promptsOf(app, id, 'organization_rules')).toEqual(['Never use tabs.'])
  await resume(id)
  expect(await promptsOf(app, id, 'organization_rules')).toEqual(['Never use tabs.'])
  await set('Never use spaces.')
  await resume(id)
  expect(reported(app, 2)).toContain('Never use spaces.')
  expect(reported(app, 2)).not.toContain('Never use tabs.')
  expect(await promptsOf(app, id, 'organization_rules')).toEqual(['Never use tabs.', 'Never use spaces.'])
  await set(null)
  await resume(id)
  expect(reported(app, 3)).not.toContain('Never use')
})

test("with enable_rules_detection off, the repository's instructions for agents are neither read nor shown", async () => {
  await using app = await startCodingApp(() => finish('done'))
  await app.call('PATCH', `/v1/organizations/${app.org_id}`, { settings: { enable_rules_detection: false } })
  const { id } = await createRun(app, { prompt: 'x' })
  await awaitEnd(app, id)
  expect(reported(app, 0)).not.toContain('Be brief.')
  expect(await promptsOf(app, id, 'repository_instructions')).toEqual([])
})

test('the personal instructions of a user reach only the runs of that user', async () => {
  await using app = await startCodingApp(() => finish('done'))
  await app.call('PATCH', '/v1/users/me', { custom_prompt: 'Answer in French.' })
  const { id } = await createRun(app, { prompt: 'x' })
  await awaitEnd(app, id)
  expect(reported(app, 0)).toContain('Answer in French.')
  expect(await promptsOf(app, id, 'user_custom_prompt')).toEqual(['Answer in French.'])
  const { id: colleague } = await insertUser(app.db, { full_name: 'A colleague' })
  await insertMembership(app.db, app.org_id, colleague, 'MEMBER')
  const token = 'the-token-of-a-colleague'
  const given = { kind: 'personal', name: 't', wire_profile: 'standard', expires_in_seconds: null } as const
  await insertToken(app.db, { ...given, user_id: colleague, digest: digest(token) })
  const theirs = await app.call(
    'POST',
    `/v1/organizations/${app.org_id}/agent/run`,
    { prompt: 'x' },
    { authorization: `Bearer ${token}` },
  )
  await awaitEnd(app, theirs.body.id)
  expect(reported(app, 1)).not.toContain('French')
})
