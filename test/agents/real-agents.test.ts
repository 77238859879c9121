import { expect, test } from 'vitest'
import { withProfile } from '../api/clients/with-profile.ts'
import { awaitEnd } from '../runs/await-run.ts'
import { CLAUDE_CODE, expectPullRequest, scriptOf, startAgentApp } from './real-agents.ts'

const TIMEOUT_MS = 120_000

test(
  'Claude Code works on a run in its sandbox up to a pull request: its calls are metered, its tools are in the trace, and the key of the model is not in its sandbox',
  () => expectPullRequest(CLAUDE_CODE),
  TIMEOUT_MS,
)

test(
  'under wire profile codegen claude_code is Claude Code if it is registered and can call the model, and the built-in agent otherwise',
  async () => {
    await using app = await startAgentApp(CLAUDE_CODE, scriptOf(CLAUDE_CODE, [() => ({ text: 'Hello.' })]))
    const { call } = await withProfile(app, 'codegen')
    const create = (body: object) =>
      call('POST', `/v1/organizations/${app.org_id}/agent/run`, {
        prompt: 'Greet me.',
        agent_type: 'claude_code',
        ...body,
      })
    const { body } = await create({})
    expect(await awaitEnd(app, body.id)).toMatchObject({
      status: 'completed',
      agent_type: 'claude_code',
      result: 'Hello.',
    })
    expect((await create({ prompt: 'finish: Hi', model: 'scripted/playbook' })).body).toMatchObject({
      agent_type: 'built_in',
    })
    expect((await create({ agent_type: 'codex' })).body).toMatchObject({ agent_type: 'built_in' })
  },
  TIMEOUT_MS,
)
