import { afterAll, beforeAll, expect, test } from 'vitest'
import { openToolBox, type ToolBox } from './tool-box.ts'

let box: ToolBox
const lines = (count: number, width = 70) =>
  Array.from({ length: count }, (_, i) => `${i + 1}:${'x'.repeat(width)}\n`).join('')

beforeAll(async () => {
  box = await openToolBox([{ name: 'KEY', value: 'kQ7wXz2mN9pLr4Ts' }])
})
afterAll(() => box[Symbol.asyncDispose]())

test('a file that fits is given whole, with every character as it is', async () => {
  const content = '\ufeffconst a = "\\d+\\n"\n\tgrün ✓ 🙂\r\nlast'
  await box.write('a.ts', content)
  const { output, text } = await box.call('read', { path: 'a.ts' })
  expect(output).toMatchObject({
    content,
    first_line: 1,
    last_line: 3,
    total_lines: 3,
    bytes: Buffer.byteLength(content),
    truncated: false,
  })
  expect(text).toBe(`${content.replace('\r', '')}\n[1 of 2 lines end with CRLF; edits keep it.]`)
})

test('a long file is read to its end in whole lines, each exactly once', async () => {
  const content = lines(901)
  await box.write('long.txt', content)
  let seen = ''
  let offset = 1
  const texts: string[] = []
  for (let rounds = 0; rounds < 10; rounds++) {
    const { output, text } = await box.call('read', { path: 'long.txt', offset })
    seen += output.content
    texts.push(text)
    if (output.last_line === 901) break
    expect(output).toMatchObject({ truncated: true, first_line: offset })
    offset = Number(output.last_line) + 1
    expect(text.split('\n').at(-1)).toBe(
      `Showing lines ${output.first_line}–${output.last_line} of 901. Use offset ${offset} to continue.`,
    )
    expect(text.length).toBeLessThan(30_000)
  }
  expect(seen).toBe(content)
  expect(texts).toHaveLength(3)
  expect(texts.at(-1)).toMatch(/\nShowing lines \d+–901 of 901\.$/)
})

test('a window of lines is exactly these lines', async () => {
  await box.write('long.txt', lines(100, 3))
  const { output, text } = await box.call('read', { path: 'long.txt', offset: 41, limit: 2 })
  expect(output).toMatchObject({ first_line: 41, last_line: 42, total_lines: 100, truncated: true })
  expect(text).toBe('41:xxx\n42:xxx\nShowing lines 41–42 of 100. Use offset 43 to continue.')
})

test('a file of one line with 5 MB shows the start of the line, and how long the file is', async () => {
  await box.sh(`head -c 5000000 /dev/zero | tr '\\0' x > one-line.js`)
  const { output, text } = await box.call('read', { path: 'one-line.js' })
  expect(output).toMatchObject({
    first_line: 1,
    last_line: 1,
    total_lines: 1,
    bytes: 5_000_000,
    truncated: true,
  })
  expect(text).toBe(`${'x'.repeat(2_000)}… [line cut at 2000 characters]`)
})

test('the end of a file of 40 MB can be read', async () => {
  await box.sh('seq 1 5000000 > numbers')
  const { output } = await box.call('read', { path: 'numbers', offset: 4_999_999 })
  expect(output).toMatchObject({
    content: '4999999\n5000000\n',
    last_line: 5_000_000,
    total_lines: 5_000_000,
    truncated: false,
  })
})

test('invalid UTF-8 is shown escaped and counted; a binary file is an error that names the fix', async () => {
  await box.write('latin1.txt', Buffer.from('gr\xfcn\nok\n', 'latin1'))
  expect((await box.call('read', { path: 'latin1.txt' })).text).toBe(
    'gr\\xfcn\nok\n[1 bytes are not UTF-8 text and are shown as \\xNN.]',
  )
  await box.sh('head -c 5000 /usr/bin/env > binary')
  const { status, text } = await box.call('read', { path: 'binary' })
  expect(status).toBe('error')
  expect(text).toMatch(/^Error: binary is a binary file \(5000 bytes\)/)
})

test('a file that ends within a character shows its last bytes', async () => {
  await box.write('cut.txt', Buffer.from('hello\nabc\xe2\x82', 'latin1'))
  expect((await box.call('read', { path: 'cut.txt' })).text).toBe(
    'hello\nabc\\xe2\\x82\n[2 bytes are not UTF-8 text and are shown as \\xNN.]',
  )
})

test('a line that continues beyond the bytes that are read is shown by the next call, not in part', async () => {
  await box.sh(`(head -c ${4 * 1024 ** 2 - 6} /dev/zero | tr '\\0' z; echo; echo hello world) > edge.txt`)
  const { text, output } = await box.call('read', { path: 'edge.txt' })
  expect(text).toBe(
    `${'z'.repeat(2_000)}… [line cut at 2000 characters]\nShowing lines 1–1 of 2. Use offset 2 to continue.`,
  )
  expect(output).toMatchObject({ last_line: 1, total_lines: 2, truncated: true })
  expect((await box.call('read', { path: 'edge.txt', offset: 2 })).text).toBe(
    'hello world\nShowing lines 2–2 of 2.',
  )
})

test.each([
  ['empty', '', {}, '[empty is empty.]'],
  ['blank', '\n', {}, '\n'],
  ['short', 'a\nb\n', { offset: 3 }, 'Error: short has 2 lines, so line 3 does not exist.'],
  ['short', 'a\nb', { offset: 2 }, 'b\nShowing lines 2–2 of 2.'],
])('%s with %j: offsets at the end', async (path, content, more, text) => {
  await box.write(path, content)
  expect((await box.call('read', { path, ...more })).text).toBe(text)
})

test('a secret is hidden before lines are cut', async () => {
  await box.write('.env', `${'x'.repeat(1_995)}kQ7wXz2mN9pLr4Ts\n`)
  const { text } = await box.call('read', { path: '.env' })
  expect(text).not.toContain('kQ7')
})

test('a missing file, a folder and a pipe are errors that name it', async () => {
  await box.sh('mkdir -p folder; mkfifo pipe')
  for (const path of ['missing', 'folder', 'pipe']) {
    const { status, text } = await box.call('read', { path })
    expect({ status, text }).toEqual({ status: 'error', text: expect.stringContaining(`Error: ${path} `) })
  }
})
