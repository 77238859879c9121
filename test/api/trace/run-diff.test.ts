import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunDiff } from '../../../src/contract/runs/run-diff.ts'
import { saveChange } from '../../../src/store/changes.ts'
import { append } from '../../../src/store/runs/append.ts'
import { saveCheckpoints } from '../../../src/store/workspaces/checkpoints.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from '../runs/put-run.ts'

let app: App
let other: Tenant
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const diff = (id: number, query = '', org_id = app.org_id) =>
  app.call('GET', `/v1/organizations/${org_id}/agent/run/${id}/diff${query}`)
const patch =
  'diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"\nnew file mode 100644\n--- /dev/null\n+++ b/ä\n@@ -0,0 +1 @@\n+é😀\u001b[31m\r\n\\ No newline at end of file\n'
const files: RunDiff['files'] = [
  { path: 'ä.txt', old_path: null, status: 'added', additions: 1, deletions: 0, binary: false },
  { path: 'b.png', old_path: 'a.png', status: 'renamed', additions: null, deletions: null, binary: true },
]

async function changedRun(): Promise<number> {
  const { id } = await createRun(app, { prompt: 'x' })
  await putRun(app, id, 'running')
  const [run] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
  const numbers = {
    base_sha: 'a'.repeat(40),
    head_sha: 'b'.repeat(40),
    files_changed: 2,
    additions: 1,
    deletions: 0,
  }
  await saveChange(app.db, app.org_id, id, run?.epoch ?? 0, {
    ...numbers,
    files,
    patch,
    patch_truncated: false,
  })
  return id
}

describe('200', () => {
  test('json: the whole change with every file', async () => {
    const id = await changedRun()
    for (const query of ['', '?format=json']) {
      const { status, headers, body } = await diff(id, query)
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
      expect(RunDiff.strict().parse(body)).toEqual({
        agent_run_id: id,
        base_sha: 'a'.repeat(40),
        head_sha: 'b'.repeat(40),
        files_changed: 2,
        additions: 1,
        deletions: 0,
        files,
        patch,
        patch_truncated: false,
      })
    }
  })

  test('patch: exactly what git can apply', async () => {
    const { status, headers, body } = await diff(await changedRun(), '?format=patch')
    expect([status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
      200,
      'text/x-patch; charset=utf-8',
      'nosniff',
    ])
    expect(body).toBe(patch)
  })

  test('nothing was committed: an empty change, not an error', async () => {
    const run = await createRun(app, { prompt: 'x' })
    expect(RunDiff.strict().parse((await diff(run.id)).body)).toEqual({
      agent_run_id: run.id,
      base_sha: run.base_sha,
      head_sha: null,
      files_changed: 0,
      additions: 0,
      deletions: 0,
      files: [],
      patch: '',
      patch_truncated: false,
    })
    expect((await diff(run.id, '?format=patch')).body).toBe('')
  })
})

describe('400', () => {
  test('an unknown format', async () => {
    const id = await changedRun()
    for (const query of ['?format=html', '?format=', '?format=json&format=patch', '?format[]=json'])
      expectProblem(await diff(id, query), 400, 'query.format')
  })
})

describe('409', () => {
  test('missing files are not invented: the newest available entry is named', async () => {
    const { id } = await createRun(app, { prompt: 'x' })
    const changing = ['shell', 'read', 'shell'].map(tool_name => entry({ message_type: 'ACTION', tool_name }))
    await append(app.db, app.org_id, id, null, { entries: changing })
    expect(expectProblem(await diff(id, '?to_seq=2'), 409).detail).toBe(
      'The files of the run after entry 2 are not kept. They are not kept after any entry.',
    )
    await putRun(app, id, 'running')
    const [run] = await rows<{ epoch: number }>(app, 'select epoch from runs where id = $1', [id])
    const checkpoint = {
      seq: 0,
      through_seq: 2,
      tree: 'a'.repeat(40),
      head: null,
      branch: null,
      left_out: null,
    }
    await saveCheckpoints(
      app.db,
      { organization_id: app.org_id, run_id: id, epoch: run?.epoch ?? 0 },
      {
        base_sha: null,
        checkpoints: [checkpoint],
        pack: null,
        max_bytes: 100,
      },
    )
    expect(expectProblem(await diff(id, '?to_seq=4'), 409).detail).toContain(
      'The newest entry after which they are kept is 3.',
    )
    // Between two entries of one checkpoint nothing changed, so its objects are not read.
    expect((await diff(id, '?from_seq=0&to_seq=3')).body).toMatchObject({
      from_seq: 0,
      to_seq: 3,
      files: [],
      patch: '',
    })
  })
})

describe('400 of a range', () => {
  test.each([
    ['from_seq=-1', 'query.from_seq'],
    ['from_seq=2', 'query.from_seq'],
    ['to_seq=2', 'query.to_seq'],
    ['to_seq=1e1', 'query.to_seq'],
    ['from_seq=1&to_seq=0', 'query.to_seq'],
  ])('%s', async (query, field) => {
    const { id } = await createRun(app, { prompt: 'x' })
    expectProblem(await diff(id, `?${query}`), 400, field)
  })
})

describe('403 and 404', () => {
  test("another organization's change is not reachable by its own path and by ours", async () => {
    expectProblem(await diff(other.run_id, '', other.org_id), 403)
    expectProblem(await diff(other.run_id), 404)
    expectProblem(await diff(424_242, '?format=patch'), 404)
  })
})
