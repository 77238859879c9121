import { expect, test } from 'vitest'
import { addPerson } from '../api/members/people.ts'
import { awaitRun, createRun } from '../runs/await-run.ts'
import { calls, finish, responses, shell, startCodingApp } from '../runs/coding-app.ts'
import { rows, startApp } from '../start-app.ts'
import { connectClient, type McpClient, message, post, revisions, send } from './connect-client.ts'

/** A service with a run whose model does not respond until `respond` is called. */
async function startBusy() {
  const { promise: released, resolve: respond } = Promise.withResolvers<void>()
  const app = await startCodingApp(async () => {
    await released
    return finish('Done.')
  })
  const { id } = await createRun(app, { prompt: 'Wait.' })
  await awaitRun(app, id, run => run.waiting_on === 'model')
  return { app, id, respond }
}

type Progress = { progress: number; message?: string | undefined }
/** Begins to wait; `begun` resolves with the first progress, when the wait is in progress. */
function beginWait({ client }: McpClient, agent_run_id: number, signal?: AbortSignal) {
  const seen: Progress[] = []
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const options = {
    onprogress: (progress: Progress) => {
      seen.push(progress)
      resolve()
    },
    ...(signal && { signal }),
  }
  const ended = client.callTool(
    { name: 'wait_for_agent_run', arguments: { agent_run_id, timeout_seconds: 600 } },
    options,
  )
  ended.catch(() => {})
  return { seen, begun, ended }
}
const waits = (app: Awaited<ReturnType<typeof startBusy>>['app']) =>
  app.logs.filter(
    ({ message: text, fields }) => text === 'tool call' && fields?.tool === 'wait_for_agent_run',
  )

/** Resolves once the service has logged the end of a wait. */
async function awaitLogged(app: Awaited<ReturnType<typeof startBusy>>['app']) {
  await expect.poll(() => waits(app).map(({ fields }) => fields?.code), { timeout: 10_000 }).toHaveLength(1)
  return waits(app)[0]?.fields?.code
}

test.each(revisions)(
  'a wait of revision %s reports progress, which only increases, and ends with the run',
  async (_revision, mode) => {
    await using app = await startCodingApp(responses(calls(shell('echo one')), finish('Done.')))
    await using mcp = await connectClient(app, mode)
    const { id } = await mcp.succeed('create_agent_run', { prompt: 'Say done.' })
    const { seen, ended } = beginWait(mcp, id)
    expect((await ended).structuredContent).toMatchObject({ reason: 'ended', run: { status: 'completed' } })
    expect(seen.map(({ progress }) => progress)).toEqual(
      seen.map(({ progress }) => progress).toSorted((a, b) => a - b),
    )
    expect(seen.at(-1)?.message).toMatch(new RegExp(`^Run ${id}: completed, \\d+ log entries$`))
  },
)

test('a wait without a progress token is one JSON response', async () => {
  const { app, id, respond } = await startBusy()
  await using _app = app
  const waiting = post(
    app,
    message('tools/call', { name: 'wait_for_agent_run', arguments: { agent_run_id: id } }),
  )
  respond()
  expect((await waiting).body).toMatchObject({ result: { structuredContent: { reason: 'ended' } } })
})

test.each(revisions)(
  'a client of revision %s that cancels ends its wait in the service, and the run continues',
  async (_revision, mode) => {
    const { app, id, respond } = await startBusy()
    await using _app = app
    await using mcp = await connectClient(app, mode)
    const cancelled = new AbortController()
    const { begun, ended } = beginWait(mcp, id, cancelled.signal)
    await begun
    cancelled.abort()
    await expect(ended).rejects.toThrow()
    expect(await awaitLogged(app)).toBe('unavailable')
    respond()
    expect(await mcp.succeed('wait_for_agent_run', { agent_run_id: id })).toMatchObject({
      reason: 'ended',
      run: { status: 'completed' },
    })
  },
)

test('a cancellation reaches the process that waits, and nobody cancels the call of another token', async () => {
  const { app, id } = await startBusy()
  await using _app = app
  await using other = await startApp({ DATABASE_URL: app.database_url })
  const params = { name: 'wait_for_agent_run', arguments: { agent_run_id: id }, _meta: { progressToken: 1 } }
  const begin = async (call_id: string) => {
    const { body } = await send(
      app,
      { ...message('tools/call', params), id: call_id },
      { 'mcp-session-id': 'the-connection' },
    )
    const reader = (body ?? new ReadableStream()).getReader()
    // The first progress comes after the subscription to cancellations.
    await reader.read()
    return reader
  }
  const cancel = async (requestId: string, token = app.token, connection = 'the-connection') => {
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }
    const { status } = await post({ base_url: other.base_url, token }, cancelled, {
      'mcp-session-id': connection,
    })
    expect(status).toBe(202)
  }
  const [first, second] = [await begin('call-7'), await begin('call-8')]
  const stranger = await addPerson(app, 'ADMIN')
  await cancel('call-7', stranger.token)
  await cancel('call-7', app.token, 'another-connection')
  await cancel('call-8')
  // Notifications arrive in their order: one that applied to the first call would have ended it before.
  expect(await awaitLogged(app)).toBe('unavailable')
  for (let text = ''; !text.includes('unavailable'); )
    text += new TextDecoder().decode((await second.read()).value)
  expect(waits(app).length).toBe(1)
  await cancel('call-7')
  await expect.poll(() => waits(app).length, { timeout: 10_000 }).toBe(2)
  await Promise.all([first.cancel(), second.cancel()])
})

test('a client of revision 2025-11-25 that disconnects ends its wait in the service', async () => {
  const { app, id } = await startBusy()
  await using _app = app
  const mcp = await connectClient(app, 'legacy')
  const { begun } = beginWait(mcp, id)
  await begun
  await mcp.client.close()
  expect(await awaitLogged(app)).toBe('unavailable')
})

test('a stop of the run by another call ends the wait', async () => {
  const { app, id } = await startBusy()
  await using _app = app
  await using mcp = await connectClient(app)
  const { begun, ended } = beginWait(mcp, id)
  await begun
  await mcp.succeed('stop_agent_run', { agent_run_id: id })
  expect((await ended).structuredContent).toMatchObject({ reason: 'ended', run: { status: 'cancelled' } })
})

test('a revoked token ends its wait', async () => {
  const { app, id } = await startBusy()
  await using _app = app
  const person = await addPerson(app, 'MEMBER')
  await using mcp = await connectClient({ base_url: app.base_url, token: person.token })
  const { begun, ended } = beginWait(mcp, id)
  await begun
  await rows(app, 'update tokens set revoked_at = now() where id = $1', [person.token_id])
  const result = await ended
  expect(result.isError).toBe(true)
  expect(JSON.stringify(result.content)).toContain('unavailable')
})

test('a process that stops ends its waits with a problem, and another one continues to wait for the run', async () => {
  const { app, id, respond } = await startBusy()
  await using _app = app
  const other = await startApp({ DATABASE_URL: app.database_url })
  await using leaving = await connectClient({ base_url: other.base_url, token: app.token })
  await using staying = await connectClient(app)
  const { begun, ended } = beginWait(leaving, id)
  await begun
  await other[Symbol.asyncDispose]()
  const result = await ended
  expect(result.isError).toBe(true)
  expect(JSON.stringify(result.content)).toContain('retry_after_seconds')
  const { begun: again, ended: last } = beginWait(staying, id)
  await again
  respond()
  expect((await last).structuredContent).toMatchObject({ reason: 'ended' })
})

test('a wait for an unknown run is refused with 404', async () => {
  await using app = await startApp()
  await using mcp = await connectClient(app)
  expect(await mcp.refuse('wait_for_agent_run', { agent_run_id: 999 })).toMatchObject({
    status: 404,
    code: 'not_found',
  })
})
