import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LogEntry } from '../../../src/contract/runs/logs.ts'
import { AgentRun } from '../../../src/contract/runs/runs.ts'
import { createSealer } from '../../../src/core/secrets/sealing.ts'
import { ownSecretKey } from '../../../src/system/secret-key.ts'
import { allLogs } from '../../runs/await-run.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { addOrganization, addTenant, type Organization } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { putRepository } from '../repositories/put-repository.ts'

let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_INIT_WIRE_PROFILE: 'standard' })
})
afterAll(() => app[Symbol.asyncDispose]())

const path = (org_id = app.org_id) => `/v1/organizations/${org_id}/agent/run`
const create = (body: unknown) => app.call('POST', path(), body)
const createAs = (who: Organization, body: unknown) =>
  app.call('POST', path(who.org_id), body, { authorization: `Bearer ${who.token}` })

describe('200', () => {
  test('only a prompt is required; the response is the queued run', async () => {
    const { status, headers, body } = await create({ prompt: '  Fix the bug\nin total()  ' })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(AgentRun.strict().parse(body)).toMatchObject({
      status: 'queued',
      terminal: false,
      prompt: 'Fix the bug\nin total()',
      title: 'Fix the bug',
      source_type: 'API',
      turn: 1,
      model: 'scripted/playbook',
      agent_type: 'built_in',
      repo_id: app.repo_id,
      base_ref: 'main',
      total_logs: 1,
      metadata: null,
      tags: [],
      archived: false,
      parent_run_id: null,
      result: '',
      started_at: null,
      finished_at: null,
    })
    expect(body.base_sha).toMatch(/^[0-9a-f]{40}$/)
    expect(body.queue_position).toBeGreaterThan(0)
    expect((await app.call('GET', `${path()}/${body.id}`)).body).toEqual(body)
    // The base that was found is the default branch of the repository, which is known from then on.
    expect(
      (await app.call('GET', `/v1/organizations/${app.org_id}/repos/${app.repo_id}`)).body.default_branch,
    ).toBe('main')
  })

  test('the prompt is entry 1 of the trace before the response', async () => {
    const { body } = await create({ prompt: 'Hello', images: ['data:image/png;base64,iVBORw0KGgo='] })
    const [first, ...rest] = await allLogs(app, body.id)
    expect(rest).toEqual([])
    expect(LogEntry.strict().parse(first)).toMatchObject({
      agent_run_id: body.id,
      seq: 1,
      turn: 1,
      message_type: 'USER_MESSAGE',
      thought: null,
      tool_name: null,
      tool_input: null,
      tool_output: null,
      observation: { text: 'Hello', user_id: app.user_id, source_type: 'API', mode: 'prompt', images: 1 },
    })
  })

  test('every option is stored', async () => {
    const parent = await create({ prompt: 'parent' })
    const given = {
      title: ' My title ',
      tags: ['a', ' b ', 'a'],
      base_ref: 'main',
      model: 'scripted/playbook',
      agent_type: 'built_in',
    }
    const budget = { max_cost_usd: '1.50', max_steps: 7, max_active_seconds: 60, max_wall_seconds: 600 }
    const { status, body } = await create({
      prompt: 'x',
      ...given,
      budget,
      parent_run_id: parent.body.id,
      repo_id: app.repo_id,
      auto_create_pr: false,
    })
    expect(status).toBe(200)
    expect(AgentRun.parse(body)).toMatchObject({
      title: 'My title',
      tags: ['a', 'b'],
      base_ref: 'main',
      parent_run_id: parent.body.id,
    })
    expect(body.budget).toEqual({ ...budget, max_cost_usd: '1.5' })
    expect(await rows(app, 'select auto_create_pr from runs where id = $1', [body.id])).toEqual([
      { auto_create_pr: false },
    ])
  })

  test('a run with a parent is linked with it, in the traces of both', async () => {
    const parent = await create({ prompt: 'parent' })
    const child = await create({ prompt: 'child', parent_run_id: parent.body.id })
    const linksOf = async (id: number) => {
      const { logs } = (
        await app.call(
          'GET',
          `/v1/organizations/${app.org_id}/agent/run/${id}/logs?message_type=AGENT_RUN_LINK`,
        )
      ).body
      return logs.map(({ seq, observation }: { seq: number; observation: unknown }) => ({ seq, observation }))
    }
    const to = ({ id, web_url }: { id: number; web_url: string }) => ({ agent_run_id: id, web_url })
    expect(await linksOf(child.body.id)).toEqual([
      { seq: 2, observation: { ...to(parent.body), relation: 'parent' } },
    ])
    expect(await linksOf(parent.body.id)).toEqual([
      { seq: 2, observation: { ...to(child.body), relation: 'child' } },
    ])
    expect(child.body.total_logs).toBe(2)
  })

  test('null means absent where existing clients send it', async () => {
    const nothing = {
      repo_id: null,
      images: null,
      metadata: null,
      model: null,
      agent_type: null,
      base_ref: null,
      title: null,
      tags: null,
    }
    const { status, body } = await create({
      prompt: 'x',
      ...nothing,
      budget: null,
      auto_create_pr: null,
      parent_run_id: null,
      webhooks: null,
    })
    expect({ status, body }).toMatchObject({ status: 200, body: { repo_id: app.repo_id, metadata: null } })
  })

  test('metadata is returned as it was sent, key for key and digit for digit', async () => {
    const metadata =
      '{"z":1,"a":{"nested":[null,true,"\\u0001 \\\\ud800 😀"]},"__proto__":{"x":1},"id":1234567890123456789,"huge":1e999}'
    const headers = { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' }
    const response = await fetch(app.base_url + path(), {
      method: 'POST',
      headers,
      body: `{"prompt":"x","metadata":${metadata}}`,
    })
    const text = await response.text()
    expect(response.status).toBe(200)
    expect(text).toContain(`"metadata":${metadata}`)
    const { id } = JSON.parse(text)
    for (const location of [`${path()}/${id}`, `${path()}/${id}/logs`, `${path()}s?limit=1`]) {
      const again = await fetch(app.base_url + location, { headers })
      expect(await again.text()).toContain(`"metadata":${metadata}`)
    }
  })

  test('webhooks are stored, their secrets encrypted, and not shown', async () => {
    const webhooks = [
      { url: 'https://hooks.example.org/a?b=c', secret: 'of-the-hook' },
      { url: 'http://93.184.216.34/', secret: null },
    ]
    const { status, body } = await create({
      prompt: 'x',
      webhooks: webhooks.map(hook => ({ ...hook, more: 1 })),
    })
    expect(status).toBe(200)
    const [row] = await rows<{ webhooks: string }>(app, 'select webhooks from runs where id = $1', [body.id])
    const stored = JSON.parse(row?.webhooks ?? '') as { url: string; key_id?: string; sealed?: string }[]
    expect(stored.map(hook => [hook.url, hook.sealed !== undefined])).toEqual(
      webhooks.map(hook => [hook.url, hook.secret !== null]),
    )
    for (const { secret } of webhooks) if (secret) expect(row?.webhooks).not.toContain(secret)
    const [first] = stored
    const sealer = createSealer(ownSecretKey(app.data_dir))
    const location = { organization_id: app.org_id, scope: 'run webhook', name: first?.url ?? '' }
    const sealed = { key_id: first?.key_id ?? '', sealed: Buffer.from(first?.sealed ?? '', 'base64') }
    expect(sealer.open(location, sealed)).toBe(webhooks[0]?.secret)
    for (const location of [`${path()}/${body.id}`, `${path()}/${body.id}/logs`, `${path()}s`])
      expect(JSON.stringify((await app.call('GET', location)).body)).not.toMatch(/of-the-hook|hooks\.example/)
    expect(JSON.stringify(body)).not.toMatch(/of-the-hook|hooks\.example/)
  })

  test('codegen is another name of the built-in agent', async () =>
    expect((await create({ prompt: 'x', agent_type: 'codegen' })).body.agent_type).toBe('built_in'))

  test('F101 unknown keys are ignored, and so are keys that only the service writes', async () => {
    const forged = {
      id: 1,
      organization_id: 999,
      status: 'completed',
      created_at: '2000-01-01T00:00:00.000Z',
      result: 'forged',
      user_id: 999,
      turn: 9,
    }
    const { status, body } = await create({
      prompt: 'x',
      ...forged,
      total_logs: 77,
      usage: { cost_usd: '9' },
      source_type: 'SLACK',
      context: {},
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      organization_id: app.org_id,
      status: 'queued',
      result: '',
      user_id: app.user_id,
      turn: 1,
      total_logs: 1,
    })
    expect(body).toMatchObject({ source_type: 'API', usage: { cost_usd: '0' } })
    expect(body.id).not.toBe(1)
    expect(body.created_at > '2026').toBe(true)
  })

  test('F104 text survives byte for byte: controls, right-to-left marks, emoji, line separators', async () => {
    const prompt = 'a\u0001\u001b[31m\u2028\u202e\ufffe😀👩‍👩‍👧 é e\u0301 <img src=x onerror=alert(1)>'
    const { body } = await create({ prompt, title: prompt.slice(0, 30), tags: ['é😀'] })
    expect(body).toMatchObject({ prompt, title: prompt.slice(0, 30), tags: ['é😀'] })
    expect((await allLogs(app, body.id))[0].observation.text).toBe(prompt)
  })

  test('a prompt of 200,000 characters is accepted, each emoji counted as one', async () => {
    const { status, body } = await create({ prompt: `  ${'😀'.repeat(200_000)}\n` })
    expect(status).toBe(200)
    expect(body.prompt).toBe('😀'.repeat(200_000))
  })
})

describe('starting point', () => {
  test('is a branch, a tag or a commit of the repository, and recorded as a SHA', async () => {
    const { base_sha } = (await create({ prompt: 'x' })).body
    for (const base_ref of ['main', 'refs/heads/main', base_sha]) {
      const { status, body } = await create({ prompt: 'x', base_ref })
      expect({ base_ref, status, base_sha: body.base_sha }).toEqual({ base_ref, status: 200, base_sha })
    }
  })
})

describe('repository', () => {
  test('is the only one, else the default, else 400 that names repo_id; 404 if there is none', async () => {
    const who = await addOrganization(app, 'Repositories')
    const register = (name: string) => putRepository({ db: app.db, org_id: who.org_id }, name)
    const none = expectProblem(await createAs(who, { prompt: 'x' }), 404)
    expect(none.detail).toBe('No repos found in the organization. Please add some repos and try again.')
    const first = await register('first')
    expect((await createAs(who, { prompt: 'x' })).body.repo_id).toBe(first)
    const second = await register('second')
    expectProblem(await createAs(who, { prompt: 'x' }), 400, 'body.repo_id')
    expect((await createAs(who, { prompt: 'x', repo_id: second })).body.repo_id).toBe(second)
    await rows(app, 'update organizations set default_repository_id = $2 where id = $1', [who.org_id, second])
    expect((await createAs(who, { prompt: 'x' })).body.repo_id).toBe(second)
  })

  test('is none on request, with repo_id null or absent; a repository together with that is an error', async () => {
    expect((await create({ prompt: 'x', repo_id: null, repoless: true })).body).toMatchObject({
      repo_id: null,
      base_ref: null,
      base_sha: null,
    })
    expect((await create({ prompt: 'x', repoless: true })).body.repo_id).toBeNull()
    expectProblem(await create({ prompt: 'x', repo_id: app.repo_id, repoless: true }), 400, 'body.repoless')
  })

  test('may have an unavailable remote, and its commit is determined later', async () => {
    const who = await addTenant(app, 'Away')
    const { status, body } = await createAs(who, { prompt: 'x', base_ref: 'topic' })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { base_ref: 'topic', base_sha: null, repo_id: who.repo_id },
    })
  })
})
