import { expect, test } from 'vitest'
import type { SeenRequest } from '../../model/fake-server.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, responses, shell, startCodingApp } from '../coding-app.ts'

const offered = ({ body }: SeenRequest) =>
  (body.tools as { function: { name: string } }[]).map(tool => tool.function.name)

test('tools that are off for a run are not offered, cannot be called, and are off for its forks and child runs too', async () => {
  await using app = await startCodingApp(
    responses(
      calls(shell('echo hidden')),
      calls({ name: 'start_run', arguments: { prompt: 'a part of it' } }),
      calls({ name: 'finish', arguments: { answer: 'Done.' } }),
      calls({ name: 'finish', arguments: { answer: 'Done.' } }),
      calls({ name: 'finish', arguments: { answer: 'Done.' } }),
    ),
  )
  const created = await createRun(app, { prompt: 'x', tools_off: ['shell', 'search', 'shell'] })
  expect(created.tools_off).toEqual(['shell', 'search'])
  expect(await awaitEnd(app, created.id)).toMatchObject({
    status: 'completed',
    tools_off: ['shell', 'search'],
  })
  const logs = await allLogs(app, created.id)
  expect(logs.find(entry => entry.tool_name === 'shell')).toMatchObject({ tool_output: { status: 'error' } })
  const path = `/v1/organizations/${app.org_id}/agent`
  const children = (await app.call('GET', `${path}/runs?parent_run_id=${created.id}`)).body.items
  expect(children).toMatchObject([{ tools_off: ['shell', 'search'] }])
  await awaitEnd(app, children[0].id)
  const fork = await app.call('POST', `${path}/run/fork`, { agent_run_id: created.id, from_seq: 1 })
  expect(await awaitEnd(app, fork.body.id)).toMatchObject({ tools_off: ['shell', 'search'] })
  expect(app.model.requests).toHaveLength(5)
  for (const request of app.model.requests) {
    expect(offered(request)).toEqual(expect.arrayContaining(['read', 'finish']))
    expect(offered(request)).not.toContain('shell')
  }
})

test.each([
  ['a name that is not a tool', ['shell', 'browser'], ['body', 'tools_off', 1]],
  ['the tool that ends a turn', ['finish'], ['body', 'tools_off', 0]],
  ['a text', 'shell', ['body', 'tools_off']],
])('%s is refused with the field', async (_name, tools_off, loc) => {
  await using app = await startCodingApp(responses())
  const { status, body } = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, {
    prompt: 'x',
    tools_off,
  })
  expect(status).toBe(400)
  expect(body.errors).toMatchObject([{ loc }])
})
