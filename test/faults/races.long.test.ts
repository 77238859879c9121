import { expect, test } from 'vitest'
import { awaitRun, createRun } from '../runs/await-run.ts'
import { rows, startApp } from '../start-app.ts'

const soak = process.env.TEST_SOAK === '1'
const seed = Number(process.env.TEST_SEED ?? 1)

/** The same numbers in each run of the same seed (mulberry32). */
function numbers(from: number): () => number {
  let state = from
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const prompt = 'Play this.\n\n```playbook\n- answer: done\n```\n'
const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const terminal = ['completed', 'failed', 'cancelled']

test(`fault 48: a stop that races with the end of a run leaves one end, reported once, and a repetition changes nothing (seed ${seed})`, async () => {
  const random = numbers(seed)
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '4' })
  const path = `/v1/organizations/${app.org_id}/agent/run`
  const stop = (id: number) => app.call('POST', `${path}/stop`, { agent_run_id: id })
  // The duration of ten runs without a stop: so stops come at every moment of their lives, and some too late.
  const started = performance.now()
  const warm = await Promise.all(
    Array.from({ length: 10 }, () => createRun(app, { prompt, repo_id: null, repoless: true })),
  )
  await Promise.all(warm.map(({ id }) => awaitRun(app, id, state => state.terminal)))
  const life_ms = 1.2 * (performance.now() - started)
  const race = async () => {
    const { id } = await createRun(app, { prompt, repo_id: null, repoless: true })
    await wait(random() * life_ms)
    await Promise.all([stop(id), wait(random() * 5).then(() => stop(id))])
    const run = await awaitRun(app, id, state => state.terminal)
    expect((await stop(id)).body.status).toBe(run.status)
    const { logs } = (await app.call('GET', `${path}/${id}/logs`)).body
    const final_answers = logs.filter(
      (entry: { message_type: string }) => entry.message_type === 'FINAL_ANSWER',
    ).length
    const ends = await rows<{ status: string }>(
      app,
      `select body::json->>'status' as status
        from events
        where run_id = $1 and type = 'agent_run.status' and body::json->>'status' = any($2)`,
      [id, terminal],
    )
    expect({ ends, final_answers }).toEqual({
      ends: [{ status: run.status }],
      final_answers: run.status === 'completed' ? 1 : 0,
    })
    return run.status as string
  }
  const ends: string[] = []
  for (let round = 0; round < (soak ? 100 : 2); round++)
    ends.push(...(await Promise.all(Array.from({ length: 10 }, race))))
  // Otherwise it was not a race.
  expect(new Set(ends)).toEqual(new Set(['completed', 'cancelled']))
}, 300_000)

test('fault 47: twenty resumes of a finished run in parallel, with active workers: each is accepted or refused with a reason, and none of them is lost or done twice', async () => {
  await using app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '4' })
  const path = `/v1/organizations/${app.org_id}/agent/run`
  const { id } = await createRun(app, { prompt, repo_id: null, repoless: true })
  await awaitRun(app, id, state => state.terminal)
  const final_answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      app.call('POST', `${path}/resume`, { agent_run_id: id, prompt: `again ${i}`, mode: 'enqueue' }),
    ),
  )
  expect(final_answers.map(answer => answer.status)).toEqual(Array(20).fill(200))
  await awaitRun(app, id, state => state.terminal && state.turn > 1)
  const undelivered = () =>
    rows<{ n: number }>(
      app,
      'select count(*) as n from messages where run_id = $1 and delivered_at is null',
      [id],
    )
  while ((await undelivered())[0]?.n !== 0) await wait(20)
  await awaitRun(app, id, state => state.terminal)
  const { logs } = (await app.call('GET', `${path}/${id}/logs?limit=100`)).body
  expect(logs.map((entry: { seq: number }) => entry.seq)).toEqual(logs.map((_: unknown, i: number) => i + 1))
  const texts = logs.flatMap((entry: { message_type: string; observation: { text: string } }) =>
    entry.message_type === 'USER_MESSAGE' && entry.observation.text.startsWith('again')
      ? [entry.observation.text]
      : [],
  )
  expect(texts.toSorted()).toEqual(Array.from({ length: 20 }, (_, i) => `again ${i}`).toSorted())
  const turns = new Set(
    logs
      .filter((entry: { message_type: string }) => entry.message_type === 'FINAL_ANSWER')
      .map((entry: { turn: number }) => entry.turn),
  )
  expect(
    logs.filter((entry: { message_type: string }) => entry.message_type === 'FINAL_ANSWER'),
  ).toHaveLength(turns.size)
})
