import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { awaitEnd, awaitRun } from '../runs/await-run.ts'
import { calls, finish, responses, shell, startCodingApp } from '../runs/coding-app.ts'
import { startApp } from '../start-app.ts'
import { connectClient, revisions } from './connect-client.ts'

const change = (text: string) => calls(shell(`echo ${text} >> notes.txt`))

test.each(revisions)(
  'an official client of revision %s starts a run, waits for it, and reads its trace, diff and pull request',
  async (revision, mode) => {
    await using app = await startCodingApp(
      responses(change('one'), finish('Done.'), change('two'), finish('Done again.')),
    )
    await using mcp = await connectClient(app, mode)
    expect(mcp.client.getNegotiatedProtocolVersion()).toBe(revision)
    expect(mcp.client.getServerVersion()).toMatchObject({
      name: 'agent-run-service',
      websiteUrl: app.base_url,
    })
    expect(mcp.client.getInstructions()).toContain('wait_for_agent_run')

    expect((await mcp.succeed('list_organizations')).items).toMatchObject([{ id: app.org_id }])
    expect((await mcp.succeed('list_repositories')).items).toMatchObject([{ id: app.repo_id }])
    expect((await mcp.succeed('list_models')).default_model).toBe('openai-compatible/fake')
    const planned = await mcp.succeed('dry_run_agent_run', { prompt: 'Write a note.' })
    expect(planned).not.toHaveProperty('id')
    const { id } = await mcp.succeed('create_agent_run', {
      prompt: 'Write a note.',
      repo_id: app.repo_id,
      tags: ['notes'],
      auto_create_pr: true,
    })

    const { reason, run } = await mcp.succeed('wait_for_agent_run', { agent_run_id: id })
    expect({ reason, run }).toMatchObject({
      reason: 'ended',
      run: { id, status: 'completed', result: 'Done.', tags: ['notes'] },
    })
    expect(await mcp.succeed('get_agent_run', { agent_run_id: id })).toEqual(run)
    expect((await mcp.succeed('list_agent_runs', { status: ['completed'] })).items).toEqual([run])
    const logs = await mcp.succeed('get_agent_run_logs', { agent_run_id: id, tool_name: ['shell'], limit: 1 })
    expect(logs).toMatchObject({ size: 1, filtered_total: 1, logs: [{ tool_name: 'shell' }] })
    expect((await mcp.succeed('get_agent_run_logs', { agent_run_id: id })).size).toBe(20)
    expect((await mcp.succeed('search_agent_run_logs', { agent_run_id: id, q: 'notes.txt' })).complete).toBe(
      true,
    )
    expect((await mcp.succeed('get_agent_run_diff', { agent_run_id: id })).patch).toContain('+one')
    const files = await mcp.succeed('list_agent_run_files', { agent_run_id: id })
    expect(files.items.map((item: { path: string }) => item.path)).toContain('notes.txt')
    expect(
      (await mcp.succeed('get_agent_run_file', { agent_run_id: id, path: 'notes.txt', seq: files.seq })).text,
    ).toBe('one\n')
    const [{ id: pr_id }] = run.github_pull_requests
    expect((await mcp.succeed('list_pull_requests')).items).toMatchObject([{ id: pr_id }])
    expect(await mcp.succeed('get_pull_request', { pr_id })).toMatchObject({ id: pr_id, state: 'open' })
    expect((await mcp.succeed('get_pull_request_diff', { pr_id })).files).toMatchObject([
      { path: 'notes.txt' },
    ])
    expect(await mcp.succeed('list_pull_request_checks', { pr_id })).toMatchObject({ state: 'none' })

    await mcp.succeed('resume_agent_run', { agent_run_id: id, prompt: 'Another one.' })
    const again = await mcp.succeed('wait_for_agent_run', { agent_run_id: id, timeout_seconds: 600 })
    expect(again).toMatchObject({ reason: 'ended', run: { turn: 2, result: 'Done again.' } })
  },
  60_000,
)

test('a wait names what it found: a question, a pause, an end', async () => {
  const script = responses(
    calls({ name: 'ask', arguments: { question: 'Which one?' } }),
    finish('The left one.'),
  )
  // The model of the second run never responds.
  await using app = await startCodingApp((request, n) =>
    n < 2 ? script(request, n) : { stall: 'before_headers' },
  )
  await using mcp = await connectClient(app)
  const wait = (agent_run_id: number) => mcp.succeed('wait_for_agent_run', { agent_run_id })
  const { id } = await mcp.succeed('create_agent_run', { prompt: 'Choose.' })
  expect(await wait(id)).toMatchObject({ reason: 'waiting', run: { waiting_on: 'user_input' } })
  await mcp.succeed('resume_agent_run', { agent_run_id: id, prompt: 'Left.' })
  expect(await wait(id)).toMatchObject({ reason: 'ended', run: { result: 'The left one.' } })

  const { id: second } = await mcp.succeed('create_agent_run', { prompt: 'Wait.' })
  await awaitRun(app, second, run => run.waiting_on === 'model')
  expect(await mcp.succeed('wait_for_agent_run', { agent_run_id: second, timeout_seconds: 1 })).toMatchObject(
    {
      reason: 'timeout',
      run: { status: 'running' },
    },
  )
  await mcp.succeed('pause_agent_run', { agent_run_id: second })
  expect(await wait(second)).toMatchObject({ reason: 'paused', run: { status_reason: 'user_request' } })
  await mcp.succeed('stop_agent_run', { agent_run_id: second })
  expect(await wait(second)).toMatchObject({ reason: 'ended', run: { status: 'cancelled' } })
}, 60_000)

test('every tool has a title, a description, a closed input and an output that a validator accepts', async () => {
  await using app = await startCodingApp(responses(finish('Done.')))
  await using mcp = await connectClient(app)
  const { tools } = await mcp.client.listTools()
  expect(tools.length).toBe(20)
  const ajv = addFormats.default(new Ajv2020({ strict: false }))
  for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
    expect({ name, title, description }).toEqual({
      name: expect.stringMatching(/^[a-z_]+$/),
      title: expect.any(String),
      description: expect.stringContaining(`${title}.`),
    })
    expect({ name, ...inputSchema }).toMatchObject({ type: 'object', additionalProperties: false })
    expect(outputSchema).toMatchObject({ type: 'object' })
    expect(JSON.stringify({ inputSchema, outputSchema })).not.toContain('$ref')
    for (const schema of [inputSchema, outputSchema])
      expect(() => ajv.compile(schema as object)).not.toThrow()
    expect(annotations?.readOnlyHint).toBe(/^(dry_run|get|list|search|wait)_/.test(name))
  }
})

test('traces are resources: of the newest runs, in pages, and one that does not exist is refused', async () => {
  await using app = await startCodingApp(responses(finish('Done.')))
  await using mcp = await connectClient(app)
  const { id } = await mcp.succeed('create_agent_run', { prompt: 'Say done.' })
  await awaitEnd(app, id)
  const { resources } = await mcp.client.listResources()
  const uri = `agentrun://organizations/${app.org_id}/runs/${id}/trace`
  expect(resources).toMatchObject([
    { uri, mimeType: 'application/json', title: expect.stringContaining('Say done.') },
  ])
  const { resourceTemplates } = await mcp.client.listResourceTemplates()
  expect(resourceTemplates).toMatchObject([
    { uriTemplate: 'agentrun://organizations/{org_id}/runs/{agent_run_id}/trace{?after_seq}' },
  ])

  const read = async (address: string) => {
    const [content] = (await mcp.client.readResource({ uri: address })).contents
    return JSON.parse(content !== undefined && 'text' in content ? content.text : '')
  }
  const whole = await read(uri)
  expect(whole.logs.map((entry: { seq: number }) => entry.seq)).toEqual(
    Array.from({ length: whole.total_logs }, (_, n) => n + 1),
  )
  expect((await read(`${uri}?after_seq=${whole.total_logs - 1}`)).logs).toMatchObject([
    { seq: whole.total_logs, message_type: 'FINAL_ANSWER' },
  ])
  await expect(read(`agentrun://organizations/${app.org_id}/runs/999/trace`)).rejects.toMatchObject({
    data: { status: 404, code: 'not_found' },
  })
  await expect(read('file:///etc/passwd')).rejects.toMatchObject({ code: -32_602 })
})

test('a second process serves the run that was created in the first', async () => {
  await using app = await startCodingApp(responses(finish('Done.')))
  await using other = await startApp({ DATABASE_URL: app.database_url })
  await using first = await connectClient(app)
  await using second = await connectClient({ base_url: other.base_url, token: app.token })
  const { id } = await first.succeed('create_agent_run', { prompt: 'Say done.', idempotency_key: 'one' })
  expect((await second.succeed('create_agent_run', { prompt: 'Say done.', idempotency_key: 'one' })).id).toBe(
    id,
  )
  await awaitRun(app, id, run => run.terminal)
  expect(await second.succeed('wait_for_agent_run', { agent_run_id: id })).toMatchObject({
    reason: 'ended',
    run: { id },
  })
})
