import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, makeRepository, responses, shell, startCodingApp } from '../coding-app.ts'

/** The end of a run that waited too long, as the run and the last entry of its trace report it. */
async function expectEnd(app: CodingApp, id: number, status_reason: string, code: string) {
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'failed',
    status_reason,
    error: { code },
    waiting_on: null,
    deadline_at: null,
  })
  expect((await allLogs(app, id)).at(-1)).toMatchObject({ message_type: 'ERROR', observation: { code } })
}

test('a run that no worker claims ends at its queue timeout', async () => {
  await using app = await startCodingApp(responses(), {
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_QUEUE_MAX_SECONDS: '1',
  })
  const run = await createRun(app, { prompt: 'x' })
  expect(run).toMatchObject({ status: 'queued', waiting_on: 'slot' })
  expect(Date.parse(run.deadline_at) - Date.parse(run.created_at)).toBe(1_000)
  await expectEnd(app, run.id, 'timeout', 'queue_timeout')
})

test('a question without an answer ends the run', async () => {
  await using app = await startCodingApp(
    responses(calls({ name: 'ask', arguments: { question: 'Well?' } })),
    {
      AGENTRUN_ANSWER_MAX_SECONDS: '2',
    },
  )
  const { id } = await createRun(app, { prompt: 'x' })
  const waiting = await awaitRun(app, id, run => run.status === 'waiting')
  expect(waiting.deadline_at).not.toBeNull()
  await expectEnd(app, id, 'timeout', 'answer_timeout')
})

test('an answered run has the queue timeout to be claimed, and then the full time of a turn', async () => {
  await using app = await startCodingApp(
    responses(calls({ name: 'ask', arguments: { question: 'Well?' } }), { text: 'Thanks.' }),
    {
      AGENTRUN_ANSWER_MAX_SECONDS: '600',
      AGENTRUN_QUEUE_MAX_SECONDS: '60',
    },
  )
  const { id } = await createRun(app, { prompt: 'x' })
  const waiting = await awaitRun(app, id, run => run.status === 'waiting')
  const { body } = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'Yes.',
  })
  expect(body.waiting_on).toBe('slot')
  expect(Date.parse(body.deadline_at)).toBeLessThan(Date.parse(waiting.deadline_at))
  await awaitEnd(app, id)
})

test('a model that never responds is retried up to its limits, then the run fails', async () => {
  await using app = await startCodingApp(() => ({ stall: 'before_headers' }), {
    AGENTRUN_MODEL_FIRST_BYTE_SECONDS: '1',
    AGENTRUN_RUN_MAX_WALL_SECONDS: '5',
  })
  const { id } = await createRun(app, { prompt: 'x' })
  // What comes first: no further wait fits before the deadline, or the deadline itself.
  expect((await awaitEnd(app, id)).error.code).toMatch(/^(timeout|deadline_exceeded)$/)
  const retries = (await allLogs(app, id)).filter(entry => typeof entry.observation?.retry_in_ms === 'number')
  expect(retries[0]).toMatchObject({ observation: { code: 'timeout', retryable: true, phase: 'model' } })
})

test('a turn ends at its deadline, regardless of what it waits for', async () => {
  await using app = await startCodingApp(() => ({ stall: 'before_body' }), {
    AGENTRUN_RUN_MAX_WALL_SECONDS: '2',
  })
  const { id } = await createRun(app, { prompt: 'x' })
  await awaitRun(app, id, run => run.waiting_on === 'model')
  await expectEnd(app, id, 'timeout', 'deadline_exceeded')
})

test('the error of a turn that reaches its deadline while a tool runs names the tool', async () => {
  await using app = await startCodingApp(
    (_request, n) => (n === 0 ? calls(shell('sleep 1000')) : { text: 'x' }),
    {
      AGENTRUN_RUN_MAX_WALL_SECONDS: '4',
    },
  )
  const { id } = await createRun(app, { prompt: 'x' })
  await awaitRun(app, id, run => run.waiting_on === 'tool')
  await expectEnd(app, id, 'timeout', 'deadline_exceeded')
  expect((await allLogs(app, id)).at(-1)).toMatchObject({ message_type: 'ERROR', tool_name: 'shell' })
})

test('a model that sends small pieces without end is cut off at the total timeout', async () => {
  async function* drip() {
    for (;;) {
      yield ': nothing\n\n'
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
  await using app = await startCodingApp(
    (_request, n) => (n === 0 ? { raw: drip() } : { text: 'At last.' }),
    {
      AGENTRUN_MODEL_TOTAL_SECONDS: '1',
    },
  )
  const { id } = await createRun(app, { prompt: 'x' })
  const before = await awaitRun(app, id, run => run.waiting_on === 'model')
  const after = await awaitRun(app, id, run => run.terminal)
  expect(after).toMatchObject({ status: 'completed', result: 'At last.' })
  expect(Date.parse(after.last_progress_at)).toBeGreaterThan(Date.parse(before.last_progress_at))
  expect((await allLogs(app, id)).find(entry => entry.message_type === 'ERROR')).toMatchObject({
    observation: { code: 'timeout' },
  })
})

test('a command that never ends is killed at the maximum time-out, and the agent is notified', async () => {
  await using app = await startCodingApp(
    responses(calls(shell('sleep 12345', 3_000)), { text: 'It did not end.' }),
    {
      AGENTRUN_TOOL_MAX_SECONDS: '1',
    },
  )
  const { id } = await createRun(app, { prompt: 'x' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'It did not end.' })
  expect((await allLogs(app, id)).find(entry => entry.message_type === 'ERROR')).toMatchObject({
    observation: { code: 'tool_timeout', message: expect.stringMatching(/longer than 1 s/) },
  })
})

test('a remote that accepts the connection and never responds ends the run when its fetch times out', async () => {
  const silent = createServer(() => {})
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  await using app = await startCodingApp(responses(), {
    AGENTRUN_ALLOW_PRIVATE_GIT: '1',
    AGENTRUN_FETCH_SECONDS: '1',
  })
  const { port } = silent.address() as { port: number }
  const [repository] = await rows<{ id: number }>(
    app,
    `insert into repositories (organization_id, name, full_name, url, kind)
      values ($1, 'silent', 'x/silent', $2, 'http')
      returning id`,
    [app.org_id, `http://127.0.0.1:${port}/silent.git`],
  )
  const { id } = await createRun(app, { prompt: 'x', repo_id: repository?.id })
  await awaitRun(app, id, run => run.waiting_on === 'clone')
  await expectEnd(app, id, 'git_unavailable', 'fetch_timeout')
  silent.close()
})

test('a commit that never ends because of what the agent put into its repository ends the run', async () => {
  const hold = `git config filter.hold.clean 'sleep 12345'; echo '* filter=hold' > .gitattributes; echo held > held.txt`
  await using app = await startCodingApp(responses(calls(shell(hold)), { text: 'Written.' }), {
    AGENTRUN_PUSH_SECONDS: '1',
  })
  const { id } = await createRun(app, { prompt: 'x' })
  await expectEnd(app, id, 'agent_error', 'commit_timeout')
})

test('a push that never ends is retried until the timeout for remotes, and ends the run', async () => {
  const repository = makeRepository()
  writeFileSync(join(repository, '.git/hooks/pre-receive'), '#!/bin/sh\nsleep 12345\n', { mode: 0o755 })
  const env = { AGENTRUN_PUSH_SECONDS: '1', AGENTRUN_PUSH_RETRY_SECONDS: '3' }
  await using app = await startCodingApp(
    responses(calls(shell('echo new > new.txt')), { text: 'Written.' }),
    env,
    repository,
  )
  const { id } = await createRun(app, { prompt: 'x' })
  await awaitRun(app, id, run => run.waiting_on === 'push')
  await expectEnd(app, id, 'git_unavailable', 'push_timeout')
})

test('progress is an entry, bytes of the model or output of a tool; a heartbeat alone is none', async () => {
  const held = Promise.withResolvers<void>()
  await using app = await startCodingApp(async (_request, n) => {
    if (n === 1) await held.promise
    return n === 0 ? calls(shell('for i in 1 2 3 4 5; do echo $i; sleep 0.5; done')) : { text: 'done' }
  })
  const { id } = await createRun(app, { prompt: 'x' })
  const now = async () =>
    (
      await rows<{ at: string; worked: number }>(
        app,
        'select last_progress_at::text as at, active_ms as worked from runs where id = $1',
        [id],
      )
    )[0]
  const worked = async () => (await now())?.worked ?? 0
  await awaitRun(app, id, run => run.waiting_on === 'tool')
  const begun = (await now())?.at
  await expect.poll(async () => (await now())?.at, { timeout: 10_000 }).not.toBe(begun)
  await awaitRun(app, id, run => run.waiting_on === 'model' && app.model.requests.length === 2)
  // The next heartbeat may still carry the last output of the tool; later ones carry nothing.
  const requested = await worked()
  await expect.poll(worked, { timeout: 10_000 }).toBeGreaterThan(requested + 1_000)
  const quiet = await now()
  await expect.poll(worked, { timeout: 10_000 }).toBeGreaterThan((quiet?.worked ?? 0) + 1_500)
  expect((await now())?.at).toBe(quiet?.at)
  held.resolve()
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
})
