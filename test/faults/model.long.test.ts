// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { chatChunk } from '../model/fake-openai.ts'
import { type FakeReply, type FakeScript, type SeenRequest, sse } from '../model/fake-server.ts'
import { allLogs, awaitEnd, createRun } from '../runs/await-run.ts'
import { type CodingApp, finish, startCodingApp } from '../runs/coding-app.ts'

const ENV = { AGENTRUN_WORKER_CONCURRENCY: '16', AGENTRUN_MODEL_IDLE_SECONDS: '1' }

/**
 * Responds by the prompt of the calling run, `n` counting the calls of that run; `times`: when each call
 * came.
 */
function byRun(response: (prompt: string, n: number) => FakeReply | Promise<FakeReply>) {
  const times = new Map<string, number[]>()
  const script: FakeScript = (request: SeenRequest) => {
    const prompt = /prompt=([\w-]+)/.exec(JSON.stringify(request.body.messages))?.[1] ?? ''
    const seen = times.get(prompt) ?? []
    times.set(prompt, [...seen, request.at])
    return response(prompt, seen.length)
  }
  return { script, times }
}
const start = async (app: CodingApp, prompt: string) =>
  (await createRun(app, { prompt: `prompt=${prompt}` })).id as number
const errorsOf = async (app: CodingApp, id: number) =>
  (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR').map(entry => entry.observation)
const limited = (seconds: number): FakeReply => ({
  status: 429,
  headers: { 'retry-after': String(seconds) },
  body: { error: { message: 'slow down' } },
})
const away = (status: number): FakeReply => ({ status, body: { error: { message: 'overloaded' } } })

test('fault 18: twelve runs with a Retry-After of a second honour it, none earlier and not in lockstep, and their traces report it before they wait', async () => {
  const created = Promise.withResolvers<number[]>()
  /** What the traces had when their runs called again, and whether that was there before the wait. */
  const reported: object[] = []
  const { script, times } = byRun(async (prompt, n) => {
    if (n === 0) return limited(1)
    const now_ms = Date.now()
    const id = (await created.promise)[Number(prompt.slice('run-'.length))] ?? 0
    const waited_ms = (entry: any) => now_ms - Date.parse(entry.created_at)
    for (const entry of (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR'))
      reported.push({ ...entry.observation, early: waited_ms(entry) >= entry.observation.retry_in_ms })
    return finish('Done.')
  })
  await using app = await startCodingApp(script, { AGENTRUN_WORKER_CONCURRENCY: '16' })
  created.resolve(await Promise.all(Array.from({ length: 12 }, (_, i) => start(app, `run-${i}`))))
  const waits: number[] = []
  for (const [i, id] of (await created.promise).entries()) {
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.' })
    const errors = await errorsOf(app, id)
    expect(errors).toMatchObject([
      { code: 'rate_limited', http_status: 429, retryable: true, phase: 'model', attempt: 1 },
    ])
    expect(reported).toContainEqual({ ...errors[0], early: true })
    const [first = 0, second = 0] = times.get(`run-${i}`) ?? []
    expect(second - first).toBeGreaterThanOrEqual(1_000)
    waits.push(errors[0].retry_in_ms)
  }
  expect(reported).toHaveLength(12)
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000)
  expect(new Set(waits).size).toBeGreaterThan(6)
})

test('fault 18: a wait that the deadline of the run forbids is not begun: the run is failed/model_unavailable, and can be resumed', async () => {
  const { script } = byRun((_prompt, n) => (n === 0 ? limited(600) : finish('Done.')))
  await using app = await startCodingApp(script, { ...ENV, AGENTRUN_RUN_MAX_WALL_SECONDS: '60' })
  const id = await start(app, 'late')
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'failed',
    status_reason: 'model_unavailable',
    error: { code: 'rate_limited' },
  })
  expect(await errorsOf(app, id)).toMatchObject([{ code: 'rate_limited', retryable: true, phase: 'model' }])
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'again',
  })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 2 })
})

test('faults 19 to 23: after every failure of one call to a model server, the run reports it, calls again and ends with the complete answer only', async () => {
  const good = [chatChunk({ role: 'assistant', content: '' }), chatChunk({ content: 'half an ans' })]
  const broken: Record<string, FakeReply> = {
    'error-500': away(500),
    'error-502': { status: 502, body: '<html>bad gateway</html>' },
    'error-529': away(529),
    'stalls-at-once': { stall: 'before_body' },
    'stalls-in-the-middle': { raw: good, after: 'stall' },
    'cut-in-the-middle': { raw: good, after: 'cut' },
    'ends-without-an-end': { raw: good },
    'no-json': { raw: [...good, 'data: {"choices": [{"delta\n\n'] },
    'no-utf-8': { raw: [...good, Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 0x0a, 0x0a)] },
    'choices-of-the-wrong-kind': { raw: [...good, sse({ id: 'x', choices: 'none' })] },
    'twenty-megabytes': { raw: Array(320).fill(chatChunk({ content: 'x'.repeat(65_536) })) },
    'without-end': { raw: forEver() },
  }
  const { script } = byRun((prompt, n) => (n === 0 ? (broken[prompt] ?? { text: '?' }) : finish('Done.')))
  // Longer than the streams without end keep the other calls waiting on a busy machine: theirs must not count
  // as stalled.
  const patience = { AGENTRUN_MODEL_IDLE_SECONDS: '4', AGENTRUN_MODEL_FIRST_BYTE_SECONDS: '4' }
  await using app = await startCodingApp(script, { ...ENV, ...patience })
  const ids = await Promise.all(Object.keys(broken).map(name => start(app, name)))
  for (const [i, name] of Object.keys(broken).entries()) {
    const id = ids[i] ?? 0
    expect(await awaitEnd(app, id), name).toMatchObject({ status: 'completed', result: 'Done.' })
    expect(await errorsOf(app, id), name).toMatchObject([
      {
        code: expect.stringMatching(/^(unavailable|timeout|malformed)$/),
        retryable: true,
        phase: 'model',
        retry_in_ms: expect.any(Number),
      },
    ])
    expect(JSON.stringify(await allLogs(app, id)), name).not.toContain('half an ans')
  }
  expect(app.logs.filter(line => line.level === 'error')).toEqual([])
})

function* forEver(): Generator<string> {
  const comment = `: ${'x'.repeat(1_000_000)}\n`
  for (;;) yield comment
}
