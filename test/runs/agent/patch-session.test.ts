import { expect, test } from 'vitest'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, PRICED, responses, startCodingApp } from '../coding-app.ts'

const patch = (...lines: string[]) => ({
  tool_calls: [
    {
      name: 'apply_patch',
      arguments: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
      custom: true as const,
    },
  ],
})

test('a GPT model changes the repository by patches: one fails and explains itself, the next is pushed', async () => {
  await using app = await startCodingApp(
    responses(
      patch('*** Update File: count.js', '-export const uno = 1', '+export const two = 2'),
      patch(
        '*** Update File: count.js',
        '*** Move to: src/count.js',
        '-export const one = 1',
        '+export const two = 2',
        '*** Add File: b',
        '+b',
      ),
      calls({ name: 'finish', arguments: { answer: 'Done.' } }),
    ),
    { AGENTRUN_DEFAULT_MODEL: PRICED.model },
  )
  const { id } = await createRun(app, { prompt: 'Make it two.' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({ status: 'completed', result: 'Done.' })
  expect(app.git('diff', '--no-renames', '--name-status', 'main', run.branch)).toBe(
    'A\tb\nD\tcount.js\nA\tsrc/count.js\n',
  )
  expect(app.git('show', `${run.branch}:src/count.js`)).toBe('export const two = 2\n')
  const tried = logs.filter(entry => entry.tool_name === 'apply_patch')
  expect(tried.map(entry => entry.tool_output.status)).toEqual(['error', 'ok'])
  expect(tried[0].tool_input.patch).toContain('-export const uno = 1')
  const requests = app.model.requests.map(
    ({ body }) => body as { input: { type?: string; output?: string }[] },
  )
  const results = requests.at(-1)?.input.filter(item => item.type === 'custom_tool_call_output') ?? []
  expect(results.map(item => item.output)).toEqual([
    expect.stringMatching(/^Error: Hunk 1 of 1 for count\.js .*\n1: export const one = 1/s),
    'Applied the patch:\nR count.js -> src/count.js\nA b',
  ])
  expect(logs.filter(entry => entry.message_type === 'ERROR')).toEqual([])
})
