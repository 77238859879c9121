import { expect, test } from 'vitest'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, responses, shell, startCodingApp } from '../coding-app.ts'

const MIB = 1024 ** 2
/**
 * 16 bytes with the line break, so that what is left out begins and ends at `~`, which could be no part of a
 * random secret of the run.
 */
const LINE = '~~~~ N ~~~'
// biome-ignore lint/suspicious/noExplicitAny: an entry of the trace
const fetched = async (app: CodingApp, entry: any) => {
  const response = await fetch(entry.artifact_url, { headers: { authorization: `Bearer ${app.token}` } })
  expect(response.status).toBe(200)
  return { type: response.headers.get('content-type'), bytes: Buffer.from(await response.arrayBuffer()) }
}

test('the whole output of a truncated entry can be downloaded: text, binary, matches, long lines; head and tail beyond 1 MiB', async () => {
  await using app = await startCodingApp(
    responses(
      calls(
        shell('seq 1 60000'),
        shell('seq 1 10'),
        shell(`seq -f '${LINE.replace('N', '%06.0f')}' 1 400000; exit 3`),
        shell(
          'node -e "process.stdout.write(Buffer.from(Array.from({ length: 200000 }, (_, i) => (i * 131) % 256)))"',
        ),
        shell(
          'yes 0123456789abcdef | head -n 3000 > many.txt; head -c 5000 /dev/zero | tr "\\\\0" x > long.txt',
        ),
        { name: 'search', arguments: { pattern: '0123', path: 'many.txt' } },
        { name: 'read', arguments: { path: 'long.txt' } },
        { name: 'read', arguments: { path: 'count.js' } },
      ),
      { text: 'Done.' },
    ),
  )
  const { id } = await createRun(app, { prompt: 'print' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({ status: 'completed' })
  const [long, short, longer, binary, _made] = logs.filter(entry => entry.tool_name === 'shell')
  const [search] = logs.filter(entry => entry.tool_name === 'search')
  const [lines, small] = logs.filter(entry => entry.tool_name === 'read')
  const numbers = (to: number) => `${Array.from({ length: to }, (_, i) => i + 1).join('\n')}\n`

  expect(long).toMatchObject({ truncated: true, tool_output: { status: 'ok', truncated: true } })
  expect(long.tool_output.output.startsWith(numbers(1_000))).toBe(true)
  expect(long.tool_output.output.endsWith('59999\n60000\n')).toBe(true)
  expect(await fetched(app, long)).toEqual({
    type: 'text/plain; charset=utf-8',
    bytes: Buffer.from(numbers(60_000)),
  })

  expect(short).toMatchObject({
    truncated: false,
    artifact_url: null,
    tool_output: { output: numbers(10), truncated: false },
  })

  const lines_of = (to: number) =>
    Array.from({ length: to }, (_, i) => `${LINE.replace('N', `${i + 1}`.padStart(6, '0'))}\n`).join('')
  const whole = Buffer.from(lines_of(400_000))
  const note = `\n… ${whole.length - MIB} bytes left out …\n`
  expect(longer).toMatchObject({ truncated: true, tool_output: { status: 'error', exit_code: 3 } })
  expect(
    (await fetched(app, longer)).bytes.equals(
      Buffer.concat([whole.subarray(0, MIB / 2), Buffer.from(note), whole.subarray(-MIB / 2)]),
    ),
  ).toBe(true)

  expect(binary).toMatchObject({
    truncated: true,
    tool_output: { binary: true, output: '[binary output, 200000 bytes]', truncated: true },
  })
  const every = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 131) % 256))
  const kept = await fetched(app, binary)
  expect([kept.type, kept.bytes.equals(every)]).toEqual(['application/octet-stream', true])

  expect(search).toMatchObject({ truncated: true, tool_output: { count: 400, truncated: true } })
  expect(`${(await fetched(app, search)).bytes}`.trim().split('\n')).toHaveLength(3_000)

  expect(lines.truncated).toBe(true)
  expect((await fetched(app, lines)).bytes).toEqual(Buffer.from('x'.repeat(5_000)))
  expect(small).toMatchObject({ truncated: false, artifact_url: null })
}, 60_000)

test('a run stores 32 MiB of outputs; later ones are truncated and not stored, and the run continues', async () => {
  const noise = Array.from({ length: 34 }, (_, i) => shell(`yes 0123456789abcde${i} | head -c 1048000`))
  await using app = await startCodingApp(responses(calls(...noise), { text: 'Done.' }))
  const { id } = await createRun(app, { prompt: 'print' })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.' })
  const outputs = (await allLogs(app, id)).filter(entry => entry.tool_name === 'shell')
  expect(outputs.map(entry => entry.truncated)).toEqual(outputs.map(() => true))
  expect(outputs.map(entry => entry.artifact_url !== null)).toEqual(outputs.map((_, i) => i < 32))
}, 90_000)
