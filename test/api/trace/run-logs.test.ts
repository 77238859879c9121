import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LogEntry, type MessageType, RunWithLogs } from '../../../src/contract/runs/logs.ts'
import { append } from '../../../src/store/runs/append.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createRun } from '../../runs/await-run.ts'
import { type App, startApp } from '../../start-app.ts'
import { addTenant, type Tenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRun } from '../runs/put-run.ts'

const TOTAL = 250

let app: App
let other: Tenant
let id: number
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  other = await addTenant(app)
  id = (await createRun(app, { prompt: 'first', metadata: { a: 1 } })).id
  const kinds: MessageType[] = ['ACTION', 'PLAN_EVALUATION', 'ERROR']
  const entries = Array.from({ length: TOTAL - 1 }, (_, i) => {
    const message_type = kinds[i % 3] ?? 'ACTION'
    const tool_name = message_type === 'ACTION' ? (i % 2 ? 'shell' : 'read') : null
    return entry({
      message_type,
      tool_name,
      thought: `Thought ${i + 2} Größe 100%`,
      observation: { seq: i + 2 },
      ...(i === 3 && { tool_output: { exit_code: 1 } }),
    })
  })
  await append(app.db, app.org_id, id, null, { entries })
})
afterAll(() => app[Symbol.asyncDispose]())

const logs = (query = '', run_id = id, org_id = app.org_id) =>
  app.call('GET', `/v1/organizations/${org_id}/agent/run/${run_id}/logs${query}`)
const seqs = (body: { logs: { seq: number }[] }) => body.logs.map(item => item.seq)
const range = (from: number, to: number) =>
  Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => (from < to ? from + i : from - i))

describe('200', () => {
  test('the response and its entries have exactly the documented keys', async () => {
    const { status, headers, body } = await logs('?limit=3')
    expect({ status, stability: headers.get('x-api-stability') }).toEqual({ status: 200, stability: 'alpha' })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    RunWithLogs.strict().parse(body)
    expect(Object.keys(body)).toEqual([
      ...[
        'id',
        'organization_id',
        'status',
        'created_at',
        'web_url',
        'result',
        'metadata',
        'logs',
        'total_logs',
        'page',
        'size',
        'pages',
      ],
    ])
    expect(body).toMatchObject({
      id,
      organization_id: app.org_id,
      status: 'queued',
      result: '',
      metadata: { a: 1 },
    })
    expect(body.web_url).toBe(`${app.base_url}/agent/trace/${id}`)
    for (const item of body.logs) {
      expect(Object.keys(LogEntry.strict().parse(item)).sort()).toEqual(Object.keys(item).sort())
      for (const key of [
        'agent_run_id',
        'created_at',
        'message_type',
        'thought',
        'tool_name',
        'tool_input',
        'tool_output',
        'observation',
      ])
        expect(item).toHaveProperty(key)
      expect(item).toMatchObject({
        agent_run_id: id,
        turn: 1,
        truncated: false,
        artifact_url: null,
        duration_ms: null,
      })
      expect(item.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
  })

  test.each([
    ['', range(1, 100), { page: 1, size: 100, pages: 3 }],
    ['?skip=100', range(101, 200), { page: 2, size: 100, pages: 3 }],
    ['?skip=200&limit=100', range(201, 250), { page: 3, size: 100, pages: 3 }],
    ['?skip=249&limit=1', [250], { page: 250, size: 1, pages: 250 }],
    ['?skip=5&limit=10', range(6, 15), { page: 1, size: 10, pages: 25 }],
    ['?skip=250', [], { page: 3, size: 100, pages: 3 }],
    ['?page=2&size=100', range(101, 200), { page: 2, size: 100, pages: 3 }],
    ['?page=3', range(201, 250), { page: 3, size: 100, pages: 3 }],
    ['?page=2&size=10&reverse=true', range(240, 231), { page: 2, size: 10, pages: 25 }],
    ['?page=9&size=7&skip=5&limit=10', range(6, 15), { page: 1, size: 10, pages: 25 }],
    ['?page=2&limit=10', range(11, 20), { page: 2, size: 10, pages: 25 }],
    ['?skip=999999999&limit=100', [], { page: 10_000_000, size: 100, pages: 3 }],
    ['?reverse=true', range(250, 151), { page: 1, size: 100, pages: 3 }],
    ['?reverse=true&skip=200', range(50, 1), { page: 3, size: 100, pages: 3 }],
    ['?reverse=true&skip=249&limit=7', [1], { page: 36, size: 7, pages: 36 }],
    ['?reverse=true&skip=250', [], { page: 3, size: 100, pages: 3 }],
    ['?reverse=false&limit=2', [1, 2], { page: 1, size: 2, pages: 125 }],
  ])('the page of %j', async (query, wanted, numbers) => {
    const { body } = await logs(query)
    expect(seqs(body)).toEqual(wanted)
    expect(body).toMatchObject({ ...numbers, total_logs: TOTAL })
    expect(body).not.toHaveProperty('filtered_total')
  })

  test('paging by skip until a short page returns every entry once and in order', async () => {
    const seen: number[] = []
    for (;;) {
      const { body } = await logs(`?skip=${seen.length}&limit=60`)
      seen.push(...seqs(body))
      if (body.logs.length < 60) break
    }
    expect(seen).toEqual(range(1, TOTAL))
  })

  test.each([
    ['?after_seq=248', [249, 250], 2],
    ['?after_seq=0&limit=2', [1, 2], 250],
    ['?before_seq=3', [1, 2], 2],
    ['?after_seq=10&before_seq=14', [11, 12, 13], 3],
    ['?after_seq=10&before_seq=14&reverse=true&limit=2', [13, 12], 3],
    ['?after_seq=250', [], 0],
    ['?after_seq=999999999', [], 0],
    ['?before_seq=0', [], 0],
    ['?after_seq=14&before_seq=10', [], 0],
    ['?message_type=USER_MESSAGE', [1], 1],
    ['?message_type=FINAL_ANSWER', [], 0],
    ['?message_type=PLAN_EVALUATION&limit=2', [3, 6], 83],
    ['?message_type=PLAN_EVALUATION&skip=2&limit=2', [9, 12], 83],
    ['?message_type=PLAN_EVALUATION&reverse=true&skip=82', [3], 83],
    ['?message_type=PLAN_EVALUATION&skip=83', [], 83],
    ['?message_type=PLAN_EVALUATION&page=2&size=2', [9, 12], 83],
    ['?tool_name=shell&limit=2', [5, 11], 41],
    ['?tool_name=Shell', [], 0],
    ['?tool_name=Shell&tool_name=shell&limit=2', [5, 11], 41],
    ['?message_type=USER_MESSAGE,PLAN_EVALUATION&limit=2', [1, 3], 84],
    ['?tool_name=read&message_type=ERROR', [], 0],
    ['?failed=true&limit=3', [4, 5, 7], 84],
    ['?failed=false&limit=4', [1, 2, 3, 6], 166],
    ['?failed=true&before_seq=7&reverse=true&limit=2', [5, 4], 2],
    ['?q=thought+250', [250], 1],
    ['?q=GR%C3%96SSE', [], 0],
    ['?q=gr%C3%B6%C3%9Fe%20100%25&after_seq=248', [249, 250], 2],
    ['?q=100%25%25', [], 0],
    ['?q=observation', [], 0],
    ['?q=false', [], 0],
    ['?q=%22tool', [], 0],
    ['?q=%22first%22', [], 0],
  ])('the filter %s', async (query, wanted, filtered_total) => {
    const { status, body } = await logs(query)
    expect({ status, seqs: seqs(body), filtered_total: body.filtered_total }).toEqual({
      status: 200,
      seqs: wanted,
      filtered_total,
    })
    expect(body.total_logs).toBe(TOTAL)
    expect(body.pages).toBe(Math.ceil(filtered_total / body.size))
    RunWithLogs.strict().parse(body)
  })

  test('an entry is the same in every kind of request', async () => {
    const by_page = (await logs('?skip=20&limit=1')).body.logs[0]
    for (const query of ['?after_seq=20&before_seq=22', '?reverse=true&skip=229&limit=1', '?q=thought+21+'])
      expect((await logs(query)).body.logs).toEqual([by_page])
  })

  test('status and result are those of the run', async () => {
    const run = await createRun(app, { prompt: 'x' })
    await putRun(app, run.id, 'completed')
    expect((await logs('', run.id)).body).toMatchObject({
      status: 'completed',
      result: 'done',
      total_logs: 1,
      pages: 1,
    })
  })
})

describe('400', () => {
  test.each([
    ['reverse=1', 'reverse'],
    ['reverse=', 'reverse'],
    ['reverse=true&reverse=true', 'reverse'],
    ['after_seq=-1', 'after_seq'],
    ['before_seq=1e3', 'before_seq'],
    ['after_seq=1&after_seq=2', 'after_seq'],
    ['message_type=action', 'message_type'],
    ['message_type=ACTION&message_type=error', 'message_type'],
    ['q=a&q=b', 'q'],
    ['tool_name=', 'tool_name'],
    ['tool_name=a%00b', 'tool_name'],
    ['q=', 'q'],
    ['q=%00', 'q'],
    [`q=${'x'.repeat(201)}`, 'q'],
  ])('%s', async (query, field) => void expectProblem(await logs(`?${query}`), 400, `query.${field}`))

  test('several errors are reported together', async () => {
    expectProblem(
      await logs('?limit=101&skip=-1&message_type=x'),
      400,
      'query.limit',
      'query.skip',
      'query.message_type',
    )
  })
})

describe('403 and 404', () => {
  test("another organization's trace is not reachable by its own path and by ours", async () => {
    expectProblem(await logs('', other.run_id, other.org_id), 403)
    expect((await logs('', other.run_id)).headers.get('x-api-stability')).toBe('alpha')
    const foreign = expectProblem(await logs('', other.run_id), 404)
    const unknown = expectProblem(await logs('', 424_242), 404)
    expect({ ...foreign, request_id: '', instance: '' }).toEqual({ ...unknown, request_id: '', instance: '' })
  })
})
