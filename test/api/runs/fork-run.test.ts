import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { append } from '../../../src/store/runs/append.ts'
import { saveCheckpoints } from '../../../src/store/workspaces/checkpoints.ts'
import { entry } from '../../../src/trace/entry.ts'
import { allLogs, createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { contents } from '../contents.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from './put-run.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const fork = (body: Record<string, unknown>, headers = {}, org_id = app.org_id) =>
  app.call('POST', `/v1/organizations/${org_id}/agent/run/fork`, body, headers)

/** A run with four entries, the third of a shell call, as a worker leaves it. */
async function workedRun(): Promise<{ id: number; epoch: number }> {
  const { id } = await createRun(app, {
    prompt: 'x',
    tags: ['kept'],
    metadata: { not: 'kept' },
    budget: { max_steps: 7 },
  })
  await putRun(app, id, 'running')
  const [run] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
  const action = (tool_name: string) => entry({ message_type: 'ACTION', tool_name })
  await append(app.db, app.org_id, id, null, {
    entries: [action('git_clone'), action('shell'), action('shell')],
  })
  return { id, epoch: run?.epoch ?? 0 }
}
const keep = (
  { id, epoch }: { id: number; epoch: number },
  seq: number,
  through_seq: number,
  left_out: string | null = null,
) =>
  saveCheckpoints(
    app.db,
    { organization_id: app.org_id, run_id: id, epoch },
    {
      base_sha: 'b'.repeat(40),
      checkpoints: [{ seq, through_seq, tree: 'a'.repeat(40), head: 'c'.repeat(40), branch: 'x', left_out }],
      pack: { tip: 'd'.repeat(40), base_sha: 'b'.repeat(40), content: Buffer.from('pack') },
      max_bytes: 1_000_000,
    },
  )

describe('200', () => {
  test('a new run with the prompt of its parent, and a link in both traces', async () => {
    const parent = await workedRun()
    await keep(parent, 3, 3)
    const { status, body } = await fork({ agent_run_id: parent.id, from_seq: 3, prompt: 'Try it otherwise' })
    expect(status).toBe(200)
    expect(AgentRun.strict().parse(body)).toMatchObject({
      status: 'queued',
      source_type: 'FORK',
      parent_run_id: parent.id,
      forked_at_seq: 3,
      prompt: 'Try it otherwise',
      total_logs: 2,
      tags: ['kept'],
      metadata: null,
      base_sha: 'b'.repeat(40),
      branch: null,
      budget: { max_steps: 7 },
      usage: { input_tokens: 0 },
    })
    const [requested, link] = await allLogs(app, body.id)
    expect(requested).toMatchObject({
      seq: 1,
      message_type: 'USER_MESSAGE',
      observation: { text: 'Try it otherwise', source_type: 'API' },
    })
    expect(link).toMatchObject({
      seq: 2,
      message_type: 'AGENT_RUN_LINK',
      observation: {
        agent_run_id: parent.id,
        relation: 'parent',
        web_url: `${app.base_url}/agent/trace/${parent.id}`,
      },
    })
    expect((await allLogs(app, parent.id)).at(-1)).toMatchObject({
      seq: 5,
      message_type: 'AGENT_RUN_LINK',
      observation: { agent_run_id: body.id, relation: 'fork', web_url: body.web_url, from_seq: 3 },
    })
    expect(
      await rows(app, 'select seq, packs, tree, head from checkpoints where run_id = $1', [body.id]),
    ).toEqual([{ seq: 0, packs: 1, tree: 'a'.repeat(40), head: 'c'.repeat(40) }])
    expect(
      await rows(app, 'select n, inherited, content from checkpoint_packs where run_id = $1', [body.id]),
    ).toEqual([{ n: 1, inherited: true, content: Buffer.from('pack') }])
  })

  test('without a prompt the agent continues, under the name of its parent', async () => {
    const parent = await createRun(app, { prompt: 'x', title: 'Ada' })
    const { body } = await fork({ agent_run_id: parent.id, from_seq: 1 })
    expect(body).toMatchObject({ prompt: 'Continue.', title: 'Ada', base_sha: parent.base_sha })
  })

  test('undelivered messages of the parent go to the fork, in order and with their images', async () => {
    const parent = await createRun(app, { prompt: 'first', images: ['data:image/png;base64,AAAA'] })
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
      agent_run_id: parent.id,
      prompt: 'second',
    })
    await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
      agent_run_id: parent.id,
      prompt: 'third',
    })
    const { body } = await fork({ agent_run_id: parent.id, from_seq: 2, prompt: 'last' })
    const waiting = await rows(app, 'select text, images from messages where run_id = $1 order by id', [
      body.id,
    ])
    expect(waiting).toEqual([
      { text: 'first', images: '["data:image/png;base64,AAAA"]' },
      { text: 'second', images: null },
      { text: 'last', images: null },
    ])
    expect(await rows(app, 'select pending_messages from runs where id = $1', [body.id])).toEqual([
      { pending_messages: 3 },
    ])
  })

  test('twenty parallel requests with one key are one fork, and one link', async () => {
    const parent = await createRun(app, { prompt: 'x' })
    const headers = { 'idempotency-key': 'fork-once' }
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => fork({ agent_run_id: parent.id, from_seq: 1 }, headers)),
    )
    expect(new Set(responses.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
    expect((await allLogs(app, parent.id)).length).toBe(2)
    expectProblem(await fork({ agent_run_id: parent.id, from_seq: 2 }, headers), 422)
  })

  test('the fork outlives its parent', async () => {
    const parent = await workedRun()
    await keep(parent, 3, 4)
    const { body } = await fork({ agent_run_id: parent.id, from_seq: 4 })
    await putRun(app, parent.id, 'completed')
    expect((await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${parent.id}`)).status).toBe(
      200,
    )
    expect(
      (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${body.id}`)).body,
    ).toMatchObject({
      parent_run_id: null,
      forked_at_seq: 4,
    })
    expect((await rows(app, 'select 1 from checkpoint_packs where run_id = $1', [body.id])).length).toBe(1)
    expect(await rows(app, 'select 1 from checkpoints where run_id = $1', [parent.id])).toEqual([])
  })
})

describe('400', () => {
  test.each([
    [{ from_seq: 0 }, 'body.from_seq'],
    [{ from_seq: 2 }, 'body.from_seq'],
    [{ from_seq: '1' }, 'body.from_seq'],
    [{}, 'body.from_seq'],
    [{ from_seq: 1, prompt: ' ' }, 'body.prompt'],
  ])('%j', async (wrong, field) => {
    const { id } = await createRun(app, { prompt: 'x' })
    const before = await contents(app)
    expectProblem(await fork({ agent_run_id: id, ...wrong }), 400, field)
    expect(await contents(app)).toEqual(before)
  })

  test('a script that does not parse, for a run with the scripted model', async () => {
    const { id } = await createRun(app, { prompt: 'x', model: 'scripted/playbook' })
    expectProblem(
      await fork({ agent_run_id: id, from_seq: 1, prompt: '```playbook\n- jump: x\n```' }),
      400,
      'body.prompt',
    )
  })
})

describe('403 and 404', () => {
  test("another organization's run is not reachable by its own path and by ours", async () => {
    expectProblem(await fork({ agent_run_id: other.run_id, from_seq: 1 }), 404)
    expectProblem(await fork({ agent_run_id: other.run_id, from_seq: 1 }, {}, other.org_id), 403)
    expectProblem(await fork({ agent_run_id: 424_242, from_seq: 1 }), 404)
  })
})

describe('409', () => {
  test('files that are not stored: the newest entry with stored files is named, and nothing is written', async () => {
    const parent = await workedRun()
    const before = await contents(app)
    expect(expectProblem(await fork({ agent_run_id: parent.id, from_seq: 4 }), 409).detail).toContain(
      'They are not kept after any entry',
    )
    expect(await contents(app)).toEqual(before)
    await keep(parent, 0, 3)
    expect(expectProblem(await fork({ agent_run_id: parent.id, from_seq: 4 }), 409).detail).toContain(
      'The newest entry after which they are kept is 3.',
    )
    expect((await fork({ agent_run_id: parent.id, from_seq: 3 })).status).toBe(200)
  })

  test('files of which some were left out', async () => {
    const parent = await workedRun()
    await keep(parent, 0, 2)
    await keep(parent, 3, 4, '[{"path":"large","reason":"too_large"}]')
    expect(expectProblem(await fork({ agent_run_id: parent.id, from_seq: 4 }), 409).detail).toBe(
      'Some files of the run after entry 4 are not kept. The newest entry after which they are kept is 2.',
    )
  })

  test('a banned run, an unavailable model, a repository that accepts no runs', async () => {
    const banned = await createRun(app, { prompt: 'x' })
    await rows(app, 'update runs set banned = true where id = $1', [banned.id])
    expectProblem(await fork({ agent_run_id: banned.id, from_seq: 1 }), 409)
    const gone = await createRun(app, { prompt: 'x' })
    await rows(app, `update runs set model = 'anthropic/gone' where id = $1`, [gone.id])
    expect(expectProblem(await fork({ agent_run_id: gone.id, from_seq: 1 }), 409).detail).toContain(
      'anthropic/gone',
    )
    const { id } = await createRun(app, { prompt: 'x' })
    await rows(app, 'update repositories set archived = true')
    expectProblem(await fork({ agent_run_id: id, from_seq: 1 }), 409)
    await rows(app, 'update repositories set archived = false, removed_at = now()')
    expectProblem(await fork({ agent_run_id: id, from_seq: 1 }), 409)
    await rows(app, 'update repositories set removed_at = null')
  })
})
