import { expect, test } from 'vitest'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, responses, shell, startCodingApp } from '../coding-app.ts'
import { makeManyFiles } from './many-files.ts'

test('a commit of some hundred files is cloned by its first run, and is a layer for those after it', async () => {
  const turn = [
    calls(
      shell('ls src/* | grep -c js; git status --short; grep -c overlay /proc/self/mountinfo; echo x >x'),
    ),
    { text: 'Done.' },
  ]
  await using app = await startCodingApp(responses(...turn, ...turn, ...turn), {}, makeManyFiles(10))
  const seen: string[] = []
  for (let n = 0; n < 3; n++) {
    const { id } = await createRun(app, { prompt: 'x' })
    await awaitEnd(app, id)
    for (const { tool_name, tool_output } of await allLogs(app, id))
      if (tool_name === 'shell' && tool_output) seen.push(tool_output.output)
  }
  expect(seen).toEqual(['200\n0\n', '200\n1\n', '200\n1\n'])
})
