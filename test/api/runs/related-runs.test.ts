import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RelatedRunPage } from '../../../src/contract/runs/related-runs.ts'
import { append } from '../../../src/store/runs/append.ts'
import { entry } from '../../../src/trace/entry.ts'
import { allLogs, createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from './put-run.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

const at = (path: string) => `/v1/organizations/${app.org_id}/agent/run${path}`
const related = async (id: number, query = '') =>
  RelatedRunPage.parse((await app.call('GET', at(`/${id}/related${query}`))).body)
const fork = async (agent_run_id: number) =>
  (await app.call('POST', at('/fork'), { agent_run_id, from_seq: 1 })).body

/** A run that ended with an answer, as a worker leaves it. */
async function endedRun() {
  const run = await createRun(app, { prompt: 'parent' })
  await append(app.db, app.org_id, run.id, null, {
    entries: [entry({ message_type: 'ACTION', tool_name: 'shell', tool_input: { command: 'x' } })],
  })
  await append(app.db, app.org_id, run.id, null, {
    entries: [entry({ message_type: 'FINAL_ANSWER', observation: 'done' })],
  })
  await putRun(app, run.id, 'completed')
  return run
}

/** Children, forks and analyses of a run, twelve of each, at once. */
const createManyFrom = (id: number) => {
  const bodies: [string, object][] = [
    [`/${id}/analyze-logs`, {}],
    ['/fork', { agent_run_id: id, from_seq: 1 }],
    ['', { prompt: 'child', parent_run_id: id }],
  ]
  const twelve = Array.from({ length: 12 })
  return Promise.all(twelve.flatMap(() => bodies.map(([path, body]) => app.call('POST', at(path), body))))
}

async function deadlocks(): Promise<unknown> {
  // The counters of a session arrive when it has been idle for a second.
  await app.db.query({ text: 'select pg_stat_force_next_flush()' })
  const [counted] = await rows(
    app,
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  return counted?.deadlocks
}

describe('200', () => {
  test('the last entry of an ended run stays its answer when runs are created from it', async () => {
    const parent = await endedRun()
    const child = await createRun(app, { prompt: 'child', parent_run_id: parent.id })
    const forked = await fork(parent.id)
    const analysis = (await app.call('POST', at(`/${parent.id}/analyze-logs`))).body
    expect((await allLogs(app, parent.id)).at(-1)).toMatchObject({ message_type: 'FINAL_ANSWER', seq: 3 })
    const { items, total } = await related(parent.id)
    expect(items.map(({ id, relation }) => [id, relation])).toEqual([
      [analysis.agent_run_id, 'analysis'],
      [forked.id, 'fork'],
      [child.id, 'child'],
    ])
    expect(total).toBe(3)
    for (const id of [child.id, forked.id, analysis.agent_run_id])
      expect((await related(id)).items.map(run => [run.id, run.relation])).toEqual([[parent.id, 'parent']])
  })

  test('many runs at once are created from one, and none of their transactions ends as a deadlock', async () => {
    const parent = await endedRun()
    const responses = await createManyFrom(parent.id)
    expect(responses.map(({ status }) => status)).toEqual(Array(36).fill(200))
    expect((await related(parent.id)).total).toBe(36)
    expect(await deadlocks()).toBe(0)
  })

  test('one that is deleted meanwhile is refused or used, and no transaction ends as a deadlock', async () => {
    for (let n = 0; n < 3; n++) {
      const parent = await endedRun()
      const created = createManyFrom(parent.id)
      expect((await app.call('DELETE', at(`/${parent.id}`))).status).toBe(200)
      // 400: an analysis that found the run, and then no entries of it.
      const statuses = new Set((await created).map(({ status }) => status))
      expect([...statuses].filter(status => ![200, 400, 404].includes(status))).toEqual([])
    }
    expect(await deadlocks()).toBe(0)
  })

  test('during its turn its trace links them, without a status that would become outdated', async () => {
    for (const status of ['queued', 'running', 'waiting', 'paused'] as const) {
      const parent = await createRun(app, { prompt: 'parent' })
      await putRun(app, parent.id, status)
      const child = await createRun(app, { prompt: 'child', parent_run_id: parent.id })
      const link = { agent_run_id: child.id, relation: 'child', web_url: child.web_url }
      expect((await allLogs(app, parent.id)).at(-1)).toMatchObject({
        message_type: 'AGENT_RUN_LINK',
        observation: link,
      })
      expect((await allLogs(app, parent.id)).at(-1).observation).not.toHaveProperty('status')
      expect((await related(parent.id)).items).toMatchObject([
        { id: child.id, relation: 'child', status: 'queued' },
      ])
    }
  })

  test('archived runs are in it, pages are cut, and a run that has none has an empty page', async () => {
    const parent = await endedRun()
    const made = []
    for (const prompt of ['one', 'two', 'three'])
      made.push((await createRun(app, { prompt, parent_run_id: parent.id })).id)
    await rows(app, 'update runs set archived = true where id = $1', [made[0]])
    expect((await related(parent.id, '?limit=2')).items.map(({ id }) => id)).toEqual([made[2], made[1]])
    expect(await related(parent.id, '?skip=2')).toMatchObject({
      total: 3,
      items: [{ id: made[0], archived: true }],
    })
    expect(await related((await createRun(app, { prompt: 'alone' })).id)).toMatchObject({
      total: 0,
      items: [],
    })
  })

  test('a token that is bound to another repository gets none of them', async () => {
    const parent = await endedRun()
    await createRun(app, { prompt: 'x', parent_run_id: parent.id, repo_id: app.repo_id })
    await app.call('POST', at(''), {
      prompt: 'without a repository',
      parent_run_id: parent.id,
      repoless: true,
    })
    const { body } = await app.call('POST', `/v1/organizations/${app.org_id}/tokens`, {
      name: 'bound',
      repository_ids: [app.repo_id],
    })
    const response = await app.call('GET', at(`/${parent.id}/related`), undefined, {
      authorization: `Bearer ${body.token}`,
    })
    expect(response.body).toMatchObject({ total: 1, items: [{ repo_id: app.repo_id }] })
  })
})

test("404: a nonexistent run, and another organization's, with the same message", async () => {
  const other = await addTenant(app)
  const [never, foreign] = [
    await app.call('GET', at('/424242/related')),
    await app.call('GET', at(`/${other.run_id}/related`)),
  ]
  expectProblem(never, 404)
  expect(foreign.body.detail).toBe(expectProblem(foreign, 404).detail)
  expect(foreign.body.detail).toBe(never.body.detail)
})
