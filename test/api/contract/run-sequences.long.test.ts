import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MessageType } from '../../../src/contract/runs/logs.ts'
import { type RunStatus, RunStatus as statuses } from '../../../src/contract/runs/runs.ts'
import { savePullRequest } from '../../../src/store/pull-requests/pull-requests.ts'
import { append } from '../../../src/store/runs/append.ts'
import { beginFollowUp } from '../../../src/store/runs/follow-ups.ts'
import { entry } from '../../../src/trace/entry.ts'
import { type ApiResponse, type App, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { putRun } from '../runs/put-run.ts'
import {
  created,
  hasEnded,
  type Mode,
  type ModelRun,
  moved,
  paused,
  resumed,
  shown,
  stopped,
  workerMoves,
} from '../runs/run-model.ts'

/**
 * Random sequences of actions of a client and a worker, each step compared with a model of the run
 * (specification.md#run-status, #create-and-resume).
 */
const seed = Number(process.env.TEST_SEED ?? 1)
const more = Number(process.env.TEST_MORE ?? 1)
const total_ms = 25_000 * more

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
})
afterAll(() => app[Symbol.asyncDispose]())

/** By id; null for one that was deleted. */
type Model = { runs: Map<number, ModelRun | null> }
type Real = { tenant: Tenant; call(method: string, path: string, body?: unknown): Promise<ApiResponse> }
type Step = (model: Model, real: Real) => Promise<void>

let tenants = 0
let branches = 0
async function newWorld(): Promise<{ model: Model; real: Real }> {
  const tenant = await addTenant(app, `world-${++tenants}`)
  const headers = { authorization: `Bearer ${tenant.token}` }
  const call = (method: string, path: string, body?: unknown) =>
    app.call(method, `/v1/organizations/${tenant.org_id}/agent/${path}`, body, headers)
  const own = { ...created(`secret of world-${tenants}`, `secret of world-${tenants}`), pull_requests: 1 }
  return { model: { runs: new Map([[tenant.run_id, own]]) }, real: { tenant, call } }
}

/** Mostly an existing run, sometimes a deleted one. */
function one({ runs }: Model, which: number): [number, ModelRun | null] {
  const there = [...runs].filter(([, run]) => run !== null)
  const from = which > 7 || there.length === 0 ? [...runs] : there
  return from[which % from.length] as [number, ModelRun | null]
}

/**
 * The response is 200 with the run as in the model, or the refusal; a deleted run is not found by any
 * request.
 */
function expectRun(response: ApiResponse, id: number, run: ModelRun | null): void {
  if (run === null)
    return void expect({ status: response.status, body: response.body }).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
  expect({ status: response.status, body: response.body }).toMatchObject({
    status: 200,
    body: { id, ...shown(run) },
  })
  expect(response.body.github_pull_requests).toHaveLength(run.pull_requests)
  expect(response.body.finished_at === null).toBe(!hasEnded(run))
  expect(response.body.deadline_at === null).toBe(hasEnded(run) || run.status === 'paused')
  expect(response.body.pause_requested_at !== null).toBe(run.held)
  expect(response.body.error === null).toBe(run.status !== 'failed')
}

/** A verb with the same outcome for every existing run. */
const verb =
  (
    which: number,
    path: (id: number) => [method: string, path: string, body?: unknown],
    change: (run: ModelRun) => ModelRun,
  ): Step =>
  async (model, real) => {
    const [id, run] = one(model, which)
    const next = run && change(run)
    expectRun(await real.call(...path(id)), id, next)
    model.runs.set(id, next)
  }
const post = (name: string) => (agent_run_id: number) =>
  ['POST', `run/${name}`, { agent_run_id }] as [string, string, unknown]

function expectConflict(response: ApiResponse) {
  expect(response).toMatchObject({ status: 409, body: { code: 'invalid_transition' } })
}

const steps = {
  create:
    (text: string): Step =>
    async (model, real) => {
      const response = await real.call('POST', 'run', {
        prompt: text,
        title: text,
        repo_id: real.tenant.repo_id,
      })
      const run = created(text, text)
      expectRun(response, response.body.id, run)
      model.runs.set(response.body.id, run)
    },
  get: (which: number) =>
    verb(
      which,
      id => ['GET', `run/${id}`],
      run => run,
    ),
  stop: (which: number) => verb(which, post('stop'), stopped),
  pause:
    (which: number): Step =>
    async (model, real) => {
      const [id, run] = one(model, which)
      const response = await real.call('POST', 'run/pause', { agent_run_id: id })
      const next = run && paused(run)
      if (run !== null && next === null) return expectConflict(response)
      expectRun(response, id, next)
      model.runs.set(id, next)
    },
  ban: (which: number) => verb(which, post('ban'), run => ({ ...stopped(run), banned: true })),
  unban: (which: number) => verb(which, post('unban'), run => ({ ...run, banned: false })),
  archive: (which: number) => verb(which, post('archive'), run => ({ ...run, archived: true })),
  unarchive: (which: number) => verb(which, post('unarchive'), run => ({ ...run, archived: false })),
  removeFromPr: (which: number) =>
    verb(which, post('remove-from-pr'), run => ({ ...stopped(run), pull_requests: 0 })),
  patch: (which: number, change: { title?: string; tags?: string[]; archived?: boolean }) =>
    verb(
      which,
      id => ['PATCH', `run/${id}`, change],
      run => ({ ...run, ...change }),
    ),
  resume:
    (which: number, text: string, mode: Mode | undefined, by_path: boolean): Step =>
    async (model, real) => {
      const [id, run] = one(model, which)
      const response = await (by_path
        ? real.call('POST', `run/${id}/resume`, { prompt: text, mode })
        : real.call('POST', 'run/resume', { agent_run_id: id, prompt: text, mode }))
      const next = run && resumed(run, text, mode)
      if (run !== null && next === null) return expectConflict(response)
      expectRun(response, id, next)
      model.runs.set(id, next)
    },
  delete:
    (which: number): Step =>
    async (model, real) => {
      const [id, run] = one(model, which)
      const response = await real.call('DELETE', `run/${id}`)
      if (run === null) return expectRun(response, id, null)
      if (!hasEnded(run)) return expectConflict(response)
      expect(response).toMatchObject({ status: 200, body: { id, deleted: true } })
      model.runs.set(id, null)
    },
  list:
    (status: RunStatus | undefined, archived: boolean): Step =>
    async (model, real) => {
      const { body } = await real.call('GET', `runs?archived=${archived}${status ? `&status=${status}` : ''}`)
      const wanted = [...model.runs]
        .filter(([, run]) => run?.archived === archived && (!status || run.status === status))
        .reverse()
      expect(body.items.map((item: { id: number }) => item.id)).toEqual(wanted.map(([id]) => id))
      expect(body.total).toBe(wanted.length)
      for (const [n, [, run]] of wanted.entries()) expect(body.items[n]).toMatchObject(shown(run as ModelRun))
    },
  /**
   * An action of a worker: a transition that the table allows, with the answer in the trace when the run is
   * completed.
   */
  work:
    (which: number, way: number): Step =>
    async (model, { tenant }) => {
      const [id, run] = one(model, which)
      const ways = run === null ? [] : workerMoves[run.status]
      const to = ways[way % ways.length]
      if (run === null || to === undefined) return
      if (to === 'completed')
        await append(app.db, tenant.org_id, id, null, {
          entries: [entry({ message_type: 'FINAL_ANSWER', observation: 'done' })],
        })
      await putRun(app, id, to)
      if (to === 'cancelled')
        await app.db.transaction(tx => beginFollowUp(tx, { organization_id: tenant.org_id, id }, 3_600))
      model.runs.set(id, moved(run, to))
    },
  /** A finished turn's pull request. */
  propose:
    (which: number): Step =>
    async (model, { tenant }) => {
      const [id, run] = one(model, which)
      if (run === null || run.pull_requests > 0) return
      // An abandoned branch is never used again.
      const head_branch = `agent/run-${id}-${++branches}`
      await savePullRequest(app.db, {
        organization_id: tenant.org_id,
        repository_id: tenant.repo_id,
        run_id: id,
        title: 'T',
        body: 'B',
        url: 'http://x/1',
        head_branch,
        base_branch: 'main',
        base_sha: 'a',
        head_sha: 'b',
        files_changed: 1,
        additions: 1,
        deletions: 0,
      })
      await app.db.query({
        text: 'update runs set branch = $2, pushed_sha = $3 where id = $1',
        values: [id, head_branch, 'b'],
      })
      model.runs.set(id, { ...run, pull_requests: 1 })
    },
}

/** At the end of a sequence: each trace from its first entry to its last, without gaps or duplicates. */
async function expectTraces(model: Model, real: Real): Promise<void> {
  for (const [id, run] of model.runs) {
    const response = await real.call('GET', `run/${id}/logs`)
    if (run === null) {
      expect(response.status).toBe(404)
      continue
    }
    type Entry = {
      seq: number
      turn: number
      message_type: MessageType
      observation: { text?: string; mode?: string } | string
    }
    const shown = (response.body.logs as Entry[]).map(({ seq, turn, message_type, observation }) =>
      typeof observation === 'string'
        ? { seq, turn, message_type }
        : { seq, turn, message_type, mode: observation.mode, text: observation.text },
    )
    expect(shown).toEqual(run.entries.map((item, n) => ({ seq: n + 1, ...item })))
    expect(response.body.total_logs).toBe(run.entries.length)
    expectRun(await real.call('GET', `run/${id}`), id, run)
  }
}

const which = fc.nat(8)
const word = fc.constantFrom('one', 'two', 'three')
type NamedStep = { name: string; step: Step }
const named = <A extends unknown[]>(
  name: keyof typeof steps,
  weight: number,
  step: (...given: A) => Step,
  ...given: { [K in keyof A]: fc.Arbitrary<A[K]> }
) => ({
  weight,
  arbitrary: fc.tuple(...given).map((values): NamedStep => {
    const text = `${name}(${values.map(value => JSON.stringify(value)).join(', ')})`
    return Object.assign({ name: text, step: step(...(values as A)) }, { [fc.toStringMethod]: () => text })
  }),
})
const anyStep = fc.oneof(
  named('create', 1, steps.create, word),
  named('get', 1, steps.get, which),
  named('stop', 2, steps.stop, which),
  named('pause', 3, steps.pause, which),
  named('ban', 1, steps.ban, which),
  named('unban', 2, steps.unban, which),
  named('archive', 1, steps.archive, which),
  named('unarchive', 1, steps.unarchive, which),
  named('removeFromPr', 1, steps.removeFromPr, which),
  named(
    'patch',
    1,
    steps.patch,
    which,
    fc.record(
      { title: word, tags: fc.uniqueArray(word), archived: fc.boolean() },
      { requiredKeys: [], noNullPrototype: true },
    ),
  ),
  named(
    'resume',
    8,
    steps.resume,
    which,
    word,
    fc.constantFrom<Mode | undefined>('steer', 'enqueue', 'interrupt', undefined),
    fc.boolean(),
  ),
  named('delete', 1, steps.delete, which),
  named('list', 1, steps.list, fc.constantFrom(undefined, ...statuses.options), fc.boolean()),
  named('work', 12, steps.work, which, fc.nat(20)),
  named('propose', 1, steps.propose, which),
)

test(
  'every response, status, turn and trace follows the model, in every order of operations',
  async () => {
    const end = performance.now() + total_ms
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 60, size: 'max' }), async sequence => {
        if (performance.now() > end) return
        const { model, real } = await newWorld()
        for (const { name, step } of sequence)
          await step(model, real).catch(error => {
            throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error })
          })
        await expectTraces(model, real)
      }),
      { seed, numRuns: 60 * more },
    )
  },
  60_000 * more,
)
