// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { serveMcp } from '../mcp-servers/http-server.ts'
import { HOSTILE, hostile, playRun, startMcpApp } from '../mcp-servers/mcp-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../runs/await-run.ts'
import { rows } from '../start-app.ts'
import { startKillable } from './killable-service.ts'
import { programEnv, programSettings } from './program-app.ts'

/** What bounds the calls of tools that the service serves to an agent of another vendor. */
let app: Awaited<ReturnType<typeof startMcpApp>>
beforeAll(async () => {
  app = await startMcpApp(() => ({ text: 'Hello.' }), { ...programEnv(), AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' })
})
afterAll(() => app[Symbol.asyncDispose]())
afterEach(async () => {
  for (const name of ['odd', ...servers(10)]) await app.servers.remove(name)
})

const servers = (number: number) => Array.from({ length: number }, (_, i) => `tickets-${i}`)
const agent_type = 'program'
const play = (steps: string, more: object = {}) =>
  playRun(app, { prompt: `do: ${steps}`, agent_type, ...more })
const served = (actions: any[]) => actions.filter(({ tool_name }) => tool_name.includes('__'))

async function setTickets({ port, origin }: { port: number; origin: string }, names: string[]) {
  const agent = { mode: 'allowlist', allow: [{ host: 'localhost', port }], presets: [] }
  expect((await app.call('PUT', `/v1/organizations/${app.org_id}/egress`, { agent })).status).toBe(200)
  for (const name of names) await app.servers.set(name, { url: `${origin}/${name}` })
}

test('a request with several messages is refused, and none of its calls is made', async () => {
  await app.servers.set('odd', hostile('plain'))
  const { run, actions } = await play('mcp batch odd act 3 | mcp odd act one')
  expect(run.result).toBe('[400][called act with {"text":"one"}]')
  expect(served(actions)).toHaveLength(1)
})

test('one call of a server is made at a time, and eight of all servers', async () => {
  const held: { server: string; end: () => void }[] = []
  const eight = Promise.withResolvers<void>()
  let [seen, most, released] = [0, 0, false]
  await using server = await serveMcp((request, response) => {
    if (request.headers['mcp-method'] !== 'tools/call') return false
    seen++
    const call = { server: request.url ?? '', end: () => response.destroy() }
    held.push(call)
    response.on('close', () => held.splice(held.indexOf(call), 1))
    most = Math.max(most, held.length)
    if (held.length === 8) eight.resolve()
    if (released) call.end()
    return true
  })
  await setTickets(server, servers(10))
  const { id } = await createRun(app, {
    prompt: `do: mcp all search ${servers(10).join(' ')} | say !`,
    agent_type,
  })
  await eight.promise
  await expect
    .poll(async () => (await allLogs(app, id)).filter(({ tool_name }) => tool_name === 'sent').length, {
      timeout: 30_000,
    })
    .toBe(1)
  expect([held.length, new Set(held.map(call => call.server)).size]).toEqual([8, 8])
  released = true
  for (const { end } of [...held]) end()
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: '!' })
  expect([seen, most]).toEqual([20, 8])
})

test('as many tools are called in a turn as the run may take steps, and none when its steps are used up', async () => {
  await app.servers.set('odd', hostile('plain'))
  const prompt = 'do: mcp at once odd act 5 | say !'
  const { id } = await createRun(app, { prompt, agent_type, budget: { max_steps: 2 } })
  expect(await awaitRun(app, id, run => run.status === 'paused')).toMatchObject({ status_reason: 'budget' })
  const started = await rows<{ kind: string }>(
    app,
    `select kind from journal where run_id = $1 and kind = 'tool_started'`,
    [id],
  )
  expect(started).toHaveLength(2)
  const other = await createRun(app, {
    prompt: 'do: call | mcp odd act late',
    agent_type,
    budget: { max_steps: 1 },
  })
  expect(await awaitRun(app, other.id, run => run.status === 'paused')).toMatchObject({
    status_reason: 'budget',
  })
  expect(
    await rows(app, `select kind from journal where run_id = $1 and kind = 'tool_started'`, [other.id]),
  ).toEqual([])
})

test('the calls of an earlier worker of the turn count too', async () => {
  await using service = await startKillable(programSettings({ SESSIONS: 'load' }), { 'server.mjs': HOSTILE })
  await service.callOrganization('PUT', '/mcp-servers/odd', hostile('plain'))
  const prompt = 'do: mcp odd act 1 | mcp odd act 2 | tool sleep 600 | mcp odd act 3 | mcp odd act 4 | say !'
  const { id } = await service.call('POST', '/run', { prompt, agent_type, budget: { max_steps: 3 } })
  const started = async (name: string) =>
    (await service.rows(`select body from journal where run_id = $1 and kind = 'tool_started'`, [id])).filter(
      ({ body }) => body.includes(`"${name}"`),
    ).length
  const settled = { timeout: 60_000, interval: 100 }
  await expect.poll(() => started('bash'), settled).toBe(1)
  await service.killAndRestart()
  const run = () => service.call('GET', `/run/${id}`)
  await expect.poll(async () => (await run()).status, settled).toBe('paused')
  expect(await run()).toMatchObject({ status_reason: 'budget' })
  expect(await started('odd__act')).toBe(3)
}, 120_000)

test.each(['long', 'many'])(
  'an input with a text that is long, or with many, is kept in part: %s',
  async how => {
    await app.servers.set('odd', hostile('plain'))
    const { run, actions } = await play(`mcp ${how} odd act | say !`)
    expect(run.result).toContain('called act with')
    expect(served(actions)).toMatchObject([{ truncated: true, tool_output: { status: 'ok' } }])
    const kept = await rows<{ length: number }>(
      app,
      `select length(body) from journal where run_id = $1 and kind = 'tool_started'`,
      [run.id],
    )
    expect(kept).toHaveLength(1)
    expect(kept[0]?.length).toBeLessThan(150_000)
  },
)

test('a result that is too large is an error, without a part of it', async () => {
  await app.servers.set('odd', hostile('longer-text'))
  const { run, actions } = await play('mcp at once odd act 3 | say !')
  expect(run.status).toBe('completed')
  expect(run.result.match(/its result of 5000000 characters is left out/g)).toHaveLength(3)
  expect(run.result).not.toContain('zz')
  expect(served(actions).map(({ tool_output }) => tool_output.status)).toEqual(['error', 'error', 'error'])
})

/** The kinds of records before and after the one of the answer. */
async function recordsAround(run: { id: number }) {
  const all = await rows<{ kind: string; key: string | null }>(
    app,
    'select kind, key from journal where run_id = $1 order by n',
    [run.id],
  )
  const at = all.findIndex(({ key }) => key?.startsWith('answer-'))
  expect(at).toBeGreaterThan(0)
  const kinds = all.map(({ kind }) => kind)
  return { before: kinds.slice(0, at), after: kinds.slice(at + 1) }
}

test('a call that is in progress when the agent answers is interrupted, and its outcome is recorded before anything is published', async () => {
  const held: { text: string; end: () => void }[] = []
  await using server = await serveMcp((request, response) => {
    if (request.headers['mcp-method'] !== 'tools/call') return false
    held.push({ text: request.url ?? '', end: () => response.destroy() })
    if (held.length === 2) held.find(({ text }) => text.endsWith('tickets-1'))?.end()
    return true
  })
  await setTickets(server, servers(2))
  const { run, actions } = await play(
    'tool echo x > a.txt | mcp beside tickets-0 tickets-1 search | say Done.',
  )
  expect(run).toMatchObject({ status: 'completed', result: 'Done.' })
  const outcomes = Object.fromEntries(
    served(actions).map(({ tool_name, tool_output }) => [tool_name, tool_output.status]),
  )
  expect(outcomes).toEqual({ 'tickets-0__search': 'interrupted', 'tickets-1__search': 'error' })
  const { before, after } = await recordsAround(run)
  expect(before.filter(kind => kind === 'tool_finished')).toHaveLength(3)
  expect(after).toEqual(['commit_started', 'push_started'])
})

test('what a process of the agent requests after the answer is refused, and leaves no record', async () => {
  await app.servers.set('odd', hostile('plain'))
  const { run } = await play('tool echo x > a.txt | mcp forever odd act | say Done.')
  expect(run).toMatchObject({ status: 'completed', result: 'Done.' })
  const { before, after } = await recordsAround(run)
  expect(before).toEqual(expect.arrayContaining(['tool_finished', 'model_answered']))
  expect(after).toEqual(['commit_started', 'push_started'])
})
