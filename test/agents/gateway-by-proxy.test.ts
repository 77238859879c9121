import { expect, test } from 'vitest'
import { allLogs, awaitEnd, createRun } from '../runs/await-run.ts'
import { programSettings, startProgramApp } from './program-app.ts'

test('an agent that ignores NO_PROXY calls the model by the proxy, and nothing is reported as refused', async () => {
  await using app = await startProgramApp(
    () => ({ text: 'Hello.' }),
    {},
    programSettings({ NO_PROXY: '', no_proxy: '' }),
  )
  const { id } = await createRun(app, { prompt: 'do: call', agent_type: 'program' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    result: '[200]',
    usage: { input_tokens: 100 },
  })
  const refused = (await allLogs(app, id)).filter(entry => entry.tool_name === 'egress_blocked')
  expect(refused).toEqual([])
})
