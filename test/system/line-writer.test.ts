import { execFileSync, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'

const LINES = 40_000
const program = `
  import { lineWriter } from ${JSON.stringify(fileURLToPath(new URL('../../src/system/line-writer.ts', import.meta.url)))}
  const lines = lineWriter(2, line => process.stderr.write(line), count => JSON.stringify({ dropped: count }) + '\\n')
  for (let n = 0; n < ${LINES}; n++) lines.write(JSON.stringify({ n, pad: 'x'.repeat(80) }) + '\\n')
  process.stdout.write('written\\n')
  process.stdin.once('data', async () => {
    lines.write('{"n":"last"}\\n')
    await lines[Symbol.asyncDispose]()
    process.exit(0)
  })`

function spawned(stdio: StdioOptions) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio })
  const { stdin, stdout } = child
  if (stdin === null) throw new Error('it takes no input')
  return { child, stdin, stdout }
}

/** A process that writes more to a pipe than fits into it, and the pipe, which is not read yet. */
function start(folder: string) {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  // Open at both ends, so that neither end waits for the other to come.
  const end = openSync(pipe, 'r+')
  const { child, stdin, stdout } = spawned(['pipe', 'pipe', end])
  if (stdout === null) throw new Error('it prints nothing')
  return { child, stdin, stdout, pipe, end }
}

test('a reader that stops reading blocks no writer; when it continues, it gets the number of missing lines', async () => {
  using folder = temporaryFolder()
  const { child, stdin, stdout, pipe, end } = start(folder.path)
  expect(String((await once(stdout, 'data'))[0])).toBe('written\n')
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  reader.stdout.setEncoding('utf8').on('data', piece => (text += piece))
  await expect.poll(() => text.includes('"dropped"'), { timeout: 20_000 }).toBe(true)
  stdin.write('end\n')
  expect(await once(child, 'exit')).toEqual([0, null])
  closeSync(end)
  await once(reader, 'close')
  const lines = text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const numbers = lines.filter(line => typeof line.n === 'number').map(line => line.n)
  expect(numbers).toEqual(numbers.map((_, i) => i))
  expect(numbers.length + lines.find(line => line.dropped).dropped).toBe(LINES)
  expect(lines.at(-1)).toEqual({ n: 'last' })
})

test('a reader that never comes back does not keep the process from its end', async () => {
  using folder = temporaryFolder()
  const { child, stdin, stdout, end } = start(folder.path)
  await once(stdout, 'data')
  stdin.write('end\n')
  expect(await once(child, 'exit')).toEqual([0, null])
  closeSync(end)
})

test('a file gets every line, in order with the writes of others', async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'log')
  const file = openSync(path, 'w')
  const { child, stdin } = spawned(['pipe', file, file])
  const exit = once(child, 'exit')
  stdin.end('end\n')
  expect(await exit).toEqual([0, null])
  closeSync(file)
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(lines.length).toBe(LINES + 2)
  expect(lines.slice(-2)).toEqual(['written', '{"n":"last"}'])
})
