import { expect, test } from 'vitest'
import { allLogs, awaitEnd, createRun, followRun } from '../await-run.ts'
import { calls, responses, shell, startCodingApp } from '../coding-app.ts'

test('output of every kind becomes a bounded, accurate entry: 1 GB, binary, time-out, a killed shell', async () => {
  await using app = await startCodingApp(
    responses(
      calls(shell('yes abcdefghijklmnop | head -c 1G')),
      calls(shell('head -c 200000 /dev/urandom')),
      calls(shell('echo before; sleep 60', 1)),
      calls(shell('kill -9 $$')),
      calls(shell("printf 'a\\000b\\xff\\033[31mred\\n'; echo still here")),
      calls(shell('setsid sleep 1000 & echo done')),
      { text: 'through' },
    ),
  )
  const before = process.memoryUsage().rss
  const { id } = await createRun(app, { prompt: 'make noise' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({ status: 'completed', result: 'through' })
  const outputs = logs.filter(entry => entry.tool_name === 'shell' && entry.message_type === 'ACTION')
  expect(outputs[0]).toMatchObject({ truncated: true, tool_output: { truncated: true } })
  expect(JSON.stringify(outputs[0]).length).toBeLessThan(300_000)
  expect(outputs[1].tool_output).toMatchObject({ binary: true, base64: expect.any(String) })
  expect(outputs[2].tool_output).toMatchObject({ status: 'timeout', output: 'before\n' })
  expect(outputs[3].tool_output.status).not.toBe('ok')
  expect(outputs[4].tool_output).toMatchObject({
    status: 'ok',
    escaped_bytes: 2,
    output: expect.stringContaining('a\\x00b\\xff'),
  })
  expect(outputs[5].tool_output).toMatchObject({ status: 'ok', output: 'done\n' })
  expect(logs.filter(entry => entry.message_type === 'ERROR').map(entry => entry.observation.code)).toContain(
    'tool_timeout',
  )
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 ** 2)
}, 90_000)

test('a running tool is visible: its start, its output, then its entry', async () => {
  await using app = await startCodingApp(
    responses(calls(shell('for i in 1 2 3; do echo tick $i; sleep 0.2; done')), { text: 'over' }),
  )
  const { id } = await createRun(app, { prompt: 'tick' })
  const seen: string[] = []
  let output = ''
  for await (const { event, data } of followRun(app, id)) {
    if (event === 'tool') seen.push(`start ${data.tool_name}`)
    if (event === 'output') output += data.text
    if (event === 'log' && data.tool_name === 'shell') seen.push('entry')
    if (event === 'run' && data.terminal) break
  }
  expect(seen).toEqual(['start shell', 'entry'])
  expect(output).toContain('tick 1')
})

test('binary files, missing files and folders are results that the model can read', async () => {
  await using app = await startCodingApp(
    responses(
      calls(
        shell('head -c 100 /dev/urandom > blob; mkfifo pipe; ln -s /etc/shadow link; ln -s / root'),
        { name: 'read', arguments: { path: 'blob' } },
        { name: 'read', arguments: { path: 'pipe' } },
        { name: 'read', arguments: { path: 'link' } },
        { name: 'read', arguments: { path: 'nowhere/at/all' } },
        { name: 'read', arguments: { path: '.' } },
        { name: 'edit', arguments: { path: 'README.md', old: 'not in there', new: 'x' } },
        { name: 'write', arguments: { path: '/etc/passwd', content: 'x' } },
        { name: 'search', arguments: { pattern: '(' } },
        shell('rm -f blob pipe link root'),
      ),
      { text: 'fine' },
    ),
  )
  const { id } = await createRun(app, { prompt: 'try files' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({ status: 'completed' })
  const tried = logs.filter(entry => ['read', 'edit', 'write', 'search'].includes(entry.tool_name))
  expect(tried.map(entry => [entry.tool_name, entry.tool_output.status])).toEqual(
    ['read', 'read', 'read', 'read', 'read', 'edit', 'write', 'search'].map(name => [name, 'error']),
  )
})
