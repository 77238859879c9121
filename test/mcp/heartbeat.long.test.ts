import { expect, test } from 'vitest'
import { awaitRun, createRun } from '../runs/await-run.ts'
import { finish, startCodingApp } from '../runs/coding-app.ts'
import { message } from './connect-client.ts'

test('a wait sends heartbeats without blank lines, for which some clients would deliver an empty message', async () => {
  const { promise: released, resolve: respond } = Promise.withResolvers<void>()
  await using app = await startCodingApp(async () => {
    await released
    return finish('Done.')
  })
  const { id } = await createRun(app, { prompt: 'Wait.' })
  await awaitRun(app, id, run => run.waiting_on === 'model')
  const wait = message('tools/call', {
    name: 'wait_for_agent_run',
    arguments: { agent_run_id: id, timeout_seconds: 600 },
    _meta: { progressToken: 1 },
  })
  const response = await fetch(`${app.base_url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${app.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(wait),
  })
  let seen = ''
  for await (const bytes of response.body ?? []) {
    seen += Buffer.from(bytes).toString()
    if (seen.split('\n: alive\n').length > 2) respond()
  }
  expect(seen).not.toMatch(/^:.*\n\n/m)
  expect(seen).toContain('"reason":"ended"')
}, 120_000)
