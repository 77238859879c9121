import { describe, expect, test } from 'vitest'
import { SourceType } from '../../../src/contract/runs/runs.ts'
import { codegenStatuses, publicSourceType } from '../../../src/core/wire-profile.ts'
import { createRun } from '../../runs/await-run.ts'
import { rows } from '../../start-app.ts'
import { models } from '../runs/public-models.ts'
import { putRun, statuses } from '../runs/put-run.ts'
import { openFrames } from '../trace/read-frames.ts'
import { codegenStatusOf, startProfiles } from './start-profiles.ts'

const { app, codegen, org, runIn } = await startProfiles()

describe('200, the status of a run', () => {
  test.each(statuses)(
    '%s is reported with the status name of the profile, and everything else is the same',
    async state => {
      const id = await runIn(state)
      for (const path of [
        `${org}/agent/run/${id}`,
        `${org}/agent/run/${id}/logs`,
        `/v1/alpha/organizations/${app.org_id}/agent/run/${id}/logs`,
      ]) {
        const theirs = (await codegen.call('GET', path)).body
        const ours = (await app.call('GET', path)).body
        expect([theirs.status, ours.status]).toEqual([codegenStatusOf[state], state])
        expect([theirs.result, ours.result]).toEqual(
          ours.result === '' ? [null, ''] : [ours.result, ours.result],
        )
        expect(JSON.stringify({ ...theirs, status: '', result: '' })).toBe(
          JSON.stringify({ ...ours, status: '', result: '' }),
        )
      }
      const [listed] = (await codegen.call('GET', `${org}/agent/runs?limit=1`)).body.items
      expect([listed.id, listed.status, listed.metadata]).toEqual([
        id,
        codegenStatusOf[state],
        { status: 'queued' },
      ])
    },
  )

  test('a failure is reported by its reason, and what waits for no person is active', async () => {
    for (const [state, reason, word] of [
      ['failed', 'timeout', 'TIMEOUT'],
      ['failed', 'max_steps', 'MAX_ITERATIONS_REACHED'],
      ['failed', 'out_of_tokens', 'OUT_OF_TOKENS'],
      ['failed', 'oom', 'ERROR'],
      ['waiting', 'ci', 'ACTIVE'],
    ] as const) {
      const id = await runIn(state, reason)
      expect((await codegen.call('GET', `${org}/agent/run/${id}`)).body.status).toBe(word)
      expect((await codegen.call('GET', `${org}/agent/run/${id}/logs?limit=1`)).body.status).toBe(word)
    }
  })

  test('in the responses to changes of a run', async () => {
    const created = (await codegen.call('POST', `${org}/agent/run`, { prompt: 'x' })).body
    expect(created.status).toBe('ACTIVE')
    const agent_run_id = created.id
    expect(
      (await codegen.call('PATCH', `${org}/agent/run/${agent_run_id}`, { title: 'y' })).body.status,
    ).toBe('ACTIVE')
    expect((await codegen.call('POST', `${org}/agent/run/archive`, { agent_run_id })).body.status).toBe(
      'ACTIVE',
    )
    expect((await codegen.call('POST', `${org}/agent/run/stop`, { agent_run_id })).body.status).toBe(
      'CANCELLED',
    )
    expect(
      (await codegen.call('POST', `${org}/agent/run/resume`, { agent_run_id, prompt: 'z' })).body.status,
    ).toBe('ACTIVE')
  })

  test('in a replayed response, by the profile of the current caller', async () => {
    const body = { prompt: 'x', metadata: { status: 'completed', big: 1 } }
    const key = { 'idempotency-key': 'wire-1' }
    const first = await codegen.call('POST', `${org}/agent/run`, body, key)
    const again = await codegen.call('POST', `${org}/agent/run`, body, key)
    const ours = await app.call('POST', `${org}/agent/run`, body, key)
    expect([again, ours].map(response => response.headers.get('idempotent-replayed'))).toEqual([
      'true',
      'true',
    ])
    expect(again.body).toEqual(first.body)
    expect(ours.body).toEqual({ ...first.body, status: 'queued', result: '' })
    expect(first.body).toMatchObject({ status: 'ACTIVE', metadata: body.metadata })
  })

  test('in streams, also when readers of both profiles follow the same run', async () => {
    const { id } = await createRun(app, { prompt: 'x' })
    const path = `${org}/agent/run/${id}/events`
    await using theirs = await openFrames(codegen, path)
    await using ours = await openFrames(app, path)
    await using all = await openFrames(codegen, `${org}/events`)
    const last = (frames: { event: string; data: string }[]) =>
      JSON.parse(frames.findLast(frame => frame.event === 'run')?.data ?? '{}')
    await theirs.until(frames => last(frames).status === 'ACTIVE')
    await ours.until(frames => last(frames).status === 'queued')
    await codegen.call('POST', `${org}/agent/run/stop`, { agent_run_id: id })
    await theirs.until(frames => last(frames).status === 'CANCELLED')
    await ours.until(frames => last(frames).status === 'cancelled')
    await all.until(frames => last(frames).run?.id === id && last(frames).run.status === 'CANCELLED')
    for (const reader of [theirs, all])
      expect(reader.frames.filter(({ data }) => /"status":"(queued|cancelled)"/.test(data))).toEqual([])
  })
})

describe('200, source_type and result', () => {
  test.each(SourceType.options)(
    'a run of source %s has a value of the public API wherever it is shown, and is found by it',
    async source => {
      const { id } = await createRun(app, { prompt: 'x' })
      await rows(app, 'update runs set source_type = $2 where id = $1', [id, source])
      const { body: run } = await codegen.call('GET', `${org}/agent/run/${id}`)
      expect([run.source_type, run.result]).toEqual([publicSourceType(source), null])
      models.AgentRunResponse.parse(run)
      models.Page_AgentRunResponse_.parse((await codegen.call('GET', `${org}/agent/runs`)).body)
      for (const value of new Set([source, run.source_type]))
        expect(
          (await codegen.call('GET', `${org}/agent/runs?source_type=${value}&limit=1`)).body.items,
        ).toMatchObject([{ id }])
      expect(
        (await app.call('GET', `${org}/agent/runs?source_type=${source}&limit=1`)).body.items,
      ).toMatchObject([{ id, source_type: source, result: '' }])
      if (source !== run.source_type)
        expect(
          (await app.call('GET', `${org}/agent/runs?source_type=${run.source_type}&limit=1`)).body.items[0]
            ?.id,
        ).not.toBe(id)
    },
  )

  test('every response that creates or changes a run, every stream and every message of a trace has values of the public API', async () => {
    const made = (await codegen.call('POST', `${org}/agent/run`, { prompt: 'x' })).body
    await rows(app, `update runs set started_at = now() where id = $1`, [made.id])
    const forked = await codegen.call('POST', `${org}/agent/run/fork`, {
      agent_run_id: made.id,
      from_seq: 1,
      prompt: 'y',
    })
    expect(forked).toMatchObject({
      status: 200,
      body: { source_type: 'API', result: null, parent_run_id: made.id },
    })
    const agent_run_id = forked.body.id
    await using events = await openFrames(codegen, `${org}/agent/run/${agent_run_id}/events`)
    await using all = await openFrames(codegen, `${org}/events`)
    await codegen.call('POST', `${org}/agent/run/stop`, { agent_run_id })
    for (const response of [
      await codegen.call('POST', `${org}/agent/run/resume`, { agent_run_id, prompt: 'z' }),
      await codegen.call('PATCH', `${org}/agent/run/${agent_run_id}`, { title: 'y' }),
    ])
      expect(response).toMatchObject({ status: 200, body: { source_type: 'API', result: null } })
    for (const reader of [events, all]) {
      await reader.until(frames =>
        frames.some(({ event, data }) => event === 'run' && data.includes('"title":"y"')),
      )
      expect(reader.frames.filter(({ data }) => /"source_type":"FORK"|"result":""/.test(data))).toEqual([])
    }
    const { body } = await codegen.call(
      'GET',
      `${org}/agent/run/${agent_run_id}/logs?message_type=USER_MESSAGE`,
    )
    expect(body.result).toBeNull()
    expect(
      body.logs.map((log: { observation: { source_type: string } }) => log.observation.source_type),
    ).toEqual(['API', 'API'])
  })
})

describe('200, ?status=', () => {
  test('finds the runs with that name; standard names are accepted too, and an unused name finds none', async () => {
    for (const state of statuses) await runIn(state)
    const all = (await codegen.call('GET', `${org}/agent/runs`)).body.items as {
      id: number
      status: string
    }[]
    const found = async (status: string) => {
      const { status: code, body } = await codegen.call('GET', `${org}/agent/runs?status=${status}`)
      expect({ status, code, total: body.total }).toEqual({ status, code: 200, total: body.items.length })
      return body.items.map((run: { id: number }) => run.id)
    }
    const runsWith = (word: string) => all.filter(run => run.status === word).map(run => run.id)
    for (const word of codegenStatuses) {
      expect(await found(word)).toEqual(runsWith(word))
      if (word !== 'PAUSED' && word !== 'CANCELLED')
        expect(await found(word.toLowerCase())).toEqual(runsWith(word))
    }
    for (const word of ['ACTIVE', 'PAUSED', 'COMPLETE', 'CANCELLED', 'ERROR'])
      expect(runsWith(word)).not.toEqual([])
    // Each word excludes the others, and several find the union.
    const several = all.filter(run => ['ACTIVE', 'ERROR', 'TIMEOUT'].includes(run.status)).map(run => run.id)
    expect(several.length).toBeGreaterThan(runsWith('ACTIVE').length)
    for (const query of [
      'ACTIVE&status=ERROR&status=TIMEOUT',
      'active,ERROR,TIMEOUT',
      'ACTIVE,ERROR,TIMEOUT,PENDING',
    ])
      expect(await found(query)).toEqual(several)
    expect(await found('ACTIVE,COMPLETE')).toEqual(
      all.filter(run => ['ACTIVE', 'COMPLETE'].includes(run.status)).map(run => run.id),
    )
    const ours = (await app.call('GET', `${org}/agent/runs?status=paused`)).body.items.map(
      (run: { id: number }) => run.id,
    )
    expect(await found('paused')).toEqual(ours)
    for (const word of ['FAILED', 'EVALUATION', 'PENDING']) expect(await found(word)).toEqual([])
  })
})

describe('200, agent_type', () => {
  test.each(['claude_code', 'codex'])(
    '%s, which is not installed, is played by the built-in agent, and the first entry reports it',
    async name => {
      const { status, body } = await codegen.call('POST', `${org}/agent/run`, {
        prompt: 'x',
        agent_type: name,
      })
      expect([status, body.agent_type]).toEqual([200, 'built_in'])
      const { logs } = (await codegen.call('GET', `${org}/agent/run/${body.id}/logs`)).body
      expect(logs).toHaveLength(1)
      expect(logs[0]).toMatchObject({
        seq: 1,
        message_type: 'USER_MESSAGE',
        observation: {
          text: 'x',
          agent_type: 'built_in',
          requested_agent_type: name,
          note: `The agent ${name} is not installed; built_in runs instead.`,
        },
      })
    },
  )

  test.each(['codegen', 'built_in'])('%s is the built-in agent, and there is no notice', async name => {
    const { body } = await codegen.call('POST', `${org}/agent/run`, { prompt: 'x', agent_type: name })
    expect(body.agent_type).toBe('built_in')
    const { logs } = (await codegen.call('GET', `${org}/agent/run/${body.id}/logs`)).body
    expect(Object.keys(logs[0].observation)).toEqual(['text', 'user_id', 'source_type', 'mode'])
  })
})

describe('200, model', () => {
  const lastMessage = async (id: number) =>
    (await codegen.call('GET', `${org}/agent/run/${id}/logs?message_type=USER_MESSAGE&reverse=true&limit=1`))
      .body.logs[0].observation

  test('a public name without a configured provider falls back: to the default at create, to the model of the run at resume', async () => {
    const made = await codegen.call('POST', `${org}/agent/run`, {
      prompt: 'x',
      model: 'claude-4-5-sonnet',
      agent_type: 'codex',
    })
    expect(made).toMatchObject({ status: 200, body: { model: 'scripted/playbook' } })
    const { id } = made.body
    expect(await lastMessage(id)).toMatchObject({
      agent_type: 'built_in',
      requested_agent_type: 'codex',
      model: 'scripted/playbook',
      requested_model: 'claude-4-5-sonnet',
      note: 'The agent codex is not installed; built_in runs instead. The model claude-4-5-sonnet is not available here; scripted/playbook is used instead.',
    })
    await putRun(app, id, 'completed')
    const resumed = await codegen.call('POST', `${org}/agent/run/resume`, {
      agent_run_id: id,
      prompt: 'y',
      model: 'gpt-5',
    })
    expect(resumed).toMatchObject({ status: 200, body: { model: 'scripted/playbook' } })
    expect(await lastMessage(id)).toMatchObject({
      text: 'y',
      model: 'scripted/playbook',
      requested_model: 'gpt-5',
      note: 'The model gpt-5 is not available here; scripted/playbook is used instead.',
    })
    const dry = (await codegen.call('POST', `${org}/agent/run?dry_run=true`, { prompt: 'x', model: 'gpt-5' }))
      .body
    expect(dry.notices.map((notice: { code: string }) => notice.code)).toContain('model_replaced')
  })

  test('a known model is found without its provider, and there is no notice', async () => {
    const { status, body } = await codegen.call('POST', `${org}/agent/run`, {
      prompt: 'x',
      model: 'playbook',
    })
    expect([status, body.model]).toEqual([200, 'scripted/playbook'])
    expect(Object.keys(await lastMessage(body.id))).toEqual(['text', 'user_id', 'source_type', 'mode'])
  })

  test('the value of a secret that is sent as a model name is in no entry', async () => {
    await app.call('PUT', `${org}/secrets/MODEL_SECRET`, { value: 'tiger-lily-12345' })
    const { body } = await codegen.call('POST', `${org}/agent/run`, {
      prompt: 'x',
      model: 'tiger-lily-12345',
    })
    expect((await lastMessage(body.id)).requested_model).toBe('[redacted:MODEL_SECRET]')
    await app.call('DELETE', `${org}/secrets/MODEL_SECRET`)
  })
})
